import BerthSystem

/// What proves to a host who we are.
enum SSHCredential: Sendable {
    case key(ClientKey)
    case agent(AgentSigner)

    /// Where the key is, for messages.
    var place: String {
        switch self {
        case .key(let key): key.path
        case .agent(let signer): "in the agent at \(signer.agent.socket)"
        }
    }

    var fingerprint: String {
        switch self {
        case .key(let key): key.fingerprint
        case .agent(let signer): signer.key.fingerprint
        }
    }

    /// Reads the key file or finds the agent's key, on a thread of its own.
    /// - Throws: `SSHError` of keys and agents
    static func load(
        for endpoint: SSHEndpoint,
        wake: @escaping @Sendable () -> Void
    ) async throws(SSHError) -> SSHCredential {
        guard let identity = endpoint.agent else {
            return .key(try await ClientKey.loadOnThread(path: endpoint.identityFile))
        }
        let agent = try SSHAgent(socket: identity.socket)
        do {
            return try await Threads.run(name: "ssh-agent") {
                .agent(AgentSigner(agent: agent, key: try agent.key(fingerprint: identity.fingerprint), wake: wake))
            }
        } catch let error as SSHError {
            throw error
        } catch {
            throw .agentUnusable(socket: agent.socket, reason: "\(error)")
        }
    }
}
