import BerthCore
import BerthSystem

/// Enrols a host with its key pinned.
struct HostAddCommand: Command {
    static let description = CommandDescription(
        name: "host add",
        summary: "Enrol a host: from then on the coordinator keeps a connection to it.",
        operands: [.init(name: "NAME", help: "the farm's name for the host")],
        options: [
            .init(
                name: "--address",
                kind: .value("HOST[:PORT]"),
                help: "where its sshd listens; the port is 22 if not given",
                isRequired: true
            ),
            .init(name: "--user", kind: .value("USER"), help: "the agents' user on the host", isRequired: true),
            .init(
                name: "--identity",
                kind: .value("KEYFILE"),
                help: "path of the private key, on the coordinator's machine"
            ),
            .init(
                name: "--agent-key",
                kind: .value("FINGERPRINT|FILE"),
                help: "in place of --identity: a key that an ssh-agent holds, by SHA256:… or its .pub file"
            ),
            .init(
                name: "--agent-socket",
                kind: .value("PATH"),
                help: "that agent's socket on the coordinator's machine, if not what its SSH_AUTH_SOCK names"
            ),
            .init(
                name: "--proxy-command",
                kind: .value("COMMAND"),
                help: "shell command that leads to the host's sshd; %h %p %r are host, port and user"
            ),
            .init(
                name: "--jump",
                kind: .values("USER@HOST[:PORT]=KEYFILE"),
                help: "hosts on the way, first to last, each with the file of its public host key"
            ),
            .init(
                name: "--compression",
                kind: .flag,
                help: "compress what goes over the connection, for a slow line; it costs processor time on both sides"
            ),
            .init(
                name: "--host-key",
                kind: .value("KEY"),
                help: "the host's public key, such as \"ssh-ed25519 AAAA…\""
            ),
            .init(
                name: "--host-key-file",
                kind: .value("FILE"),
                help: "file with the host's public key, as .pub or known-hosts line"
            ),
        ],
        discussion: """
            Without --host-key or --host-key-file the coordinator asks the host for its key, and you are shown the
            fingerprint. Compare it with what `ssh-keygen -lf` prints on the host before you type yes: nothing is ever
            trusted on its own word. By a proxy command or jump hosts the key is not asked for; it has to be given.
            """
    )

    private let name: String
    private let hostName: String
    private let port: UInt16
    private let user: String
    private let login: HostLogin
    private let hostKey: String?
    private let isCompressed: Bool

    init(_ arguments: ParsedArguments) throws {
        name = arguments.operands[0]
        guard SlotName.isValid(name) else {
            throw arguments.failure(
                "\(name.debugDescription) cannot name a host: use 1 to 64 letters, digits, dots, dashes and underscores"
            )
        }
        let address = arguments.value("--address") ?? ""
        guard let (hostName, port) = Self.split(address) else {
            throw arguments.failure(
                "\(address.debugDescription) is no address: write HOST, HOST:PORT or [ADDRESS]:PORT"
            )
        }
        (self.hostName, self.port) = (hostName, port)
        user = arguments.value("--user") ?? ""
        login = try HostLogin(arguments)
        isCompressed = arguments.has("--compression")
        hostKey = try Self.hostKey(arguments)
        if hostKey == nil {
            guard login.proxyCommand == nil, login.jump == nil else {
                throw arguments.failure(
                    "the key of a host behind others is not asked for: give --host-key or --host-key-file"
                )
            }
        }
    }

    /// The host's key as it is given, if it is.
    static func hostKey(_ arguments: ParsedArguments) throws -> String? {
        if arguments.has("--host-key"), arguments.has("--host-key-file") {
            throw arguments.failure("give --host-key or --host-key-file, not both")
        }
        if let text = arguments.value("--host-key") { return try key(text, from: "--host-key") }
        guard let file = arguments.value("--host-key-file") else { return nil }
        return try key(String(decoding: try DurableFile.read(file, limit: 64 << 10), as: UTF8.self), from: file)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let key: String
        if let hostKey { key = hostKey } else { key = try await askForKey(context) }
        let record = HostRecord(
            name: name,
            hostName: hostName,
            port: port,
            user: user,
            identityFile: login.identityFile,
            hostKey: key,
            proxyCommand: login.proxyCommand,
            jump: login.jump,
            agentKey: login.agentKey,
            compression: isCompressed ? true : nil
        )
        let answer = try await context.client.post(APIClient.path("hosts"), record, as: HostView.self)
        context.show(answer) { view in
            PlainText.safe("\(view.host.name) is enrolled with the key \(view.fingerprint)") + "\n"
        }
        return .success
    }

    private func askForKey(_ context: CommandContext) async throws -> String {
        let request = HostKeyRequest(hostName: hostName, port: port)
        let shown = try await context.client.post(APIClient.path("host-keys"), request, as: HostKeyView.self).value
        context.console.writeError(
            PlainText.safe("\(hostName) port \(port) shows the key \(shown.fingerprint)")
                + "\nIs this the host's own key? Type yes to trust it: "
        )
        guard let answer = context.console.readLine() else {
            throw CommandFailure(
                .usage,
                "nobody is there to confirm the key: compare the fingerprint and give --host-key or --host-key-file"
            )
        }
        guard answer == "yes" else {
            throw CommandFailure(.failure, "the key was not confirmed; \(name) is not enrolled")
        }
        return shown.hostKey
    }

    /// `HOST`, `HOST:PORT`, `[ADDRESS]:PORT`, or an address with several colons.
    static func split(_ address: String) -> (host: String, port: UInt16)? {
        if address.hasPrefix("["), let end = address.firstIndex(of: "]") {
            let host = String(address[address.index(after: address.startIndex)..<end])
            let rest = address[address.index(after: end)...]
            if rest.isEmpty { return host.isEmpty ? nil : (host, 22) }
            guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0, !host.isEmpty else { return nil }
            return (host, port)
        }
        let parts = address.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return address.isEmpty ? nil : (address, 22)
        case 2:
            guard let port = UInt16(parts[1]), port > 0, !parts[0].isEmpty else { return nil }
            return (String(parts[0]), port)
        default: return (address, 22)
        }
    }

    /// The first key in a text, as algorithm, blank, base64.
    static func key(_ text: String, from source: String) throws(CommandFailure) -> String {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(where: { $0.hasPrefix("ssh-") || $0.hasPrefix("ecdsa-sha2-") }),
                words.indices.contains(index + 1), words[index + 1].hasPrefix("AAAA")
            else { continue }
            return "\(words[index]) \(words[index + 1])"
        }
        throw CommandFailure(.badInput, "\(source) holds no public key such as \"ssh-ed25519 AAAA…\"")
    }
}
