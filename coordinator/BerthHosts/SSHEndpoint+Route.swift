import BerthSystem

extension SSHEndpoint {
    /// Checks the route without using it.
    /// - Throws: `SSHError.routeInvalid`
    package func checkRoute() throws(SSHError) {
        switch route {
        case .direct: break
        case .proxyCommand(let command): _ = try expand(command)
        case .jump(let hops):
            guard !hops.isEmpty else { throw .routeInvalid(reason: "the list of jump hosts is empty") }
            guard hops.count <= 8 else { throw .routeInvalid(reason: "more than 8 jump hosts in a row") }
            for hop in hops {
                try Self.check(hop.hostName, "host")
                try Self.check(hop.user, "user")
                guard HostKey.supportedAlgorithms.contains(hop.pinnedHostKey.algorithm) else {
                    throw .hostKeyTypeUnsupported(
                        host: hop.hostName,
                        port: hop.port,
                        algorithm: hop.pinnedHostKey.algorithm
                    )
                }
            }
            try Self.check(hostName, "host")
        }
    }

    /// The proxy command with its placeholders filled in.
    /// - Throws: `SSHError.routeInvalid`
    func expand(_ command: String) throws(SSHError) -> String {
        guard command.contains(where: { !$0.isWhitespace }), !command.contains("\0") else {
            throw .routeInvalid(reason: "the proxy command is empty")
        }
        var text = ""
        var rest = command[...]
        while let character = rest.popFirst() {
            guard character == "%" else {
                text.append(character)
                continue
            }
            switch rest.popFirst() {
            case "h": text += try Self.check(hostName, "host")
            case "p": text += String(port)
            case "r": text += try Self.check(user, "user")
            case "%": text += "%"
            case let other:
                let name = other.map { "%\($0)" } ?? "% at its end"
                throw .routeInvalid(reason: "the proxy command has \(name); known are %h, %p, %r and %%")
            }
        }
        return text
    }

    /// Lets through what neither a shell nor ssh takes for anything but a name.
    @discardableResult
    private static func check(_ name: String, _ what: String) throws(SSHError) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "._:-@+".utf8.contains(byte)
        }
        guard isPlain, !name.isEmpty, !name.hasPrefix("-") else {
            throw .routeInvalid(reason: "\(name.debugDescription) cannot be the name of a \(what)")
        }
        return name
    }

    /// The arguments of an `ssh` that joins its input and output to this host's sshd through the jump hosts.
    /// - Parameters:
    ///   - hops: first to last, at least one.
    ///   - folder: holds `known_hosts`, and `identity.pub` when an agent holds the key.
    ///   - target: where the last of the hops connects to.
    /// - Returns: without the program's name.
    func jumpArguments(
        _ hops: ArraySlice<SSHJump>,
        folder: String,
        target: (host: String, port: UInt16)
    ) -> [String] {
        guard let last = hops.last else { return [] }
        var options = [
            "BatchMode=yes", "StrictHostKeyChecking=yes", "UserKnownHostsFile=\(folder)/known_hosts",
            "GlobalKnownHostsFile=/dev/null", "UpdateHostKeys=no", "IdentitiesOnly=yes", "ForwardAgent=no",
            "ControlMaster=no", "ControlPath=none", "LogLevel=ERROR", "ServerAliveInterval=10", "ServerAliveCountMax=2",
            "ConnectTimeout=20", "HostKeyAlgorithms=\(last.pinnedHostKey.algorithm)",
        ]
        if let agent {
            options.append("IdentityFile=\(folder)/identity.pub")
            if let socket = agent.socket { options.append("IdentityAgent=\(Self.escape(socket))") }
        } else {
            options += ["IdentityFile=\(Self.escape(identityFile))", "IdentityAgent=none"]
        }
        if hops.count > 1 {
            let inner = jumpArguments(hops.dropLast(), folder: folder, target: (last.hostName, last.port))
            let command = ([SSHProxy.sshProgram] + inner).map(Self.shellQuoted).joined(separator: " ")
            // ssh itself puts `exec` before it.
            options.append("ProxyCommand=\(Self.escape(command))")
        }
        return ["-F", "none"] + options.flatMap { ["-o", $0] } + [
            "-W", "[\(target.host)]:\(target.port)", "-p", String(last.port), "-l", last.user, "--", last.hostName,
        ]
    }

    /// ssh expands percent signs in these values.
    private static func escape(_ text: String) -> String { text.replacing("%", with: "%%") }

    private static func shellQuoted(_ word: String) -> String {
        "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
