extension HostRecord {
    /// The same host with another pinned key.
    package func with(hostKey: String) -> HostRecord {
        HostRecord(
            name: name,
            hostName: hostName,
            port: port,
            user: user,
            identityFile: identityFile,
            hostKey: hostKey,
            proxyCommand: proxyCommand,
            jump: jump,
            agentKey: agentKey,
            compression: compression
        )
    }
}

extension HostView {
    /// The same view with what is known of another key.
    package func with(keyChange: HostKeyChange?) -> HostView {
        HostView(
            host: host,
            fingerprint: fingerprint,
            state: state,
            problem: problem,
            clockSkew: clockSkew,
            nextTry: nextTry,
            slots: slots,
            coordinator: coordinator,
            keyChange: keyChange
        )
    }
}
