/// What is to be different about an enrolled host; what is absent stays as it is.
package struct HostChange: Sendable, Hashable, Codable {
    package var hostName: String?
    package var port: UInt16?
    package var user: String?
    /// In place of a key that an agent holds, if there was one.
    package var identityFile: String?
    /// In place of a key file, if there was one.
    package var agentKey: HostRecord.AgentKey?
    /// In place of jump hosts, if there were some.
    package var proxyCommand: String?
    /// In place of a proxy command, if there was one; empty: the host is reached directly.
    package var jump: [HostRecord.JumpHost]?
    package var compression: Bool?
    /// The key to pin: algorithm, blank, base64.
    package var hostKey: String?

    package init() {}
}

extension HostRecord {
    /// The same host after a change.
    package func with(_ change: HostChange) -> HostRecord {
        let isRouteNew = change.proxyCommand != nil || change.jump != nil
        let isLoginNew = change.identityFile != nil || change.agentKey != nil
        let jump = change.jump.flatMap { $0.isEmpty ? nil : $0 }
        return HostRecord(
            name: name,
            hostName: change.hostName ?? hostName,
            port: change.port ?? port,
            user: change.user ?? user,
            identityFile: isLoginNew ? change.identityFile ?? "" : identityFile,
            hostKey: change.hostKey ?? hostKey,
            proxyCommand: isRouteNew ? change.proxyCommand : proxyCommand,
            jump: isRouteNew ? jump : self.jump,
            agentKey: isLoginNew ? change.agentKey : agentKey,
            compression: change.compression.map { $0 ? true : nil } ?? compression
        )
    }

    /// What the record says, as texts by name, for the audit.
    package var particulars: [String: String] {
        var particulars = ["address": "\(hostName):\(port)", "user": user, "hostKey": hostKey]
        if !identityFile.isEmpty { particulars["identityFile"] = identityFile }
        particulars["agentKey"] = agentKey.map { $0.fingerprint + ($0.socket.map { " of \($0)" } ?? "") }
        // What runs on the coordinator's machine, and who is trusted on the way.
        particulars["proxyCommand"] = proxyCommand
        particulars["jump"] = jump?.map { "\($0.user)@\($0.hostName):\($0.port) \($0.hostKey)" }.joined(separator: ", ")
        if compression == true { particulars["compression"] = "yes" }
        return particulars
    }
}
