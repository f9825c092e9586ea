import BerthCore
import BerthHosts
import BerthStore
import BerthSystem

/// Enrolling hosts, changing how they are reached, removing them.
extension API {
    func addHost(_ host: HostRecord, _ caller: String) async throws -> HTTPResponse {
        guard SlotName.isValid(host.name) else {
            throw APIError(
                400,
                "malformed-name",
                "\(host.name.debugDescription) cannot name a host: letters, digits, dot, dash and underscore, at most 64"
            )
        }
        try check(host, newProxyCommand: host.proxyCommand)
        try await farm.enrol(host, by: caller)
        return Self.json(try await view(host.name), status: 201)
    }

    /// The host is connected to anew; what it executes goes on meanwhile.
    func changeHost(_ name: String, _ change: HostChange, _ caller: String) async throws -> HTTPResponse {
        let hosts = try await store.hosts()
        guard let host = hosts.first(where: { $0.name == name }) else {
            throw StoreError.unknownHost(name: name, known: hosts.map(\.name))
        }
        guard change.proxyCommand == nil || change.jump == nil, change.identityFile == nil || change.agentKey == nil
        else {
            throw APIError(
                400,
                "malformed-route",
                "give a proxy command or jump hosts, and a key file or an agent's key, not both"
            )
        }
        try check(host.with(change), newProxyCommand: change.proxyCommand)
        _ = try await store.changeHost(name, change, actor: caller, now: Timestamp.now().milliseconds)
        await farm.hostChanged(name)
        return Self.json(try await view(name))
    }

    func removeHost(_ name: String, _ caller: String) async throws -> HTTPResponse {
        let removed = try await store.removeHost(name, actor: caller, now: Timestamp.now().milliseconds)
        await farm.hostChanged(name)
        return Self.json(removed)
    }

    /// Checks what can be checked of a record without asking the host.
    private func check(_ host: HostRecord, newProxyCommand: String?) throws {
        do { _ = try HostKey(line: host.hostKey) } catch { throw APIError(400, "malformed-host-key", "\(error)") }
        if newProxyCommand != nil, !allowsProxyCommands {
            throw APIError(
                403,
                "proxy-command-not-allowed",
                "this coordinator runs no proxy commands; start it with --allow-proxy-commands, or use jump hosts"
            )
        }
        do {
            // A command that was there before is refused, or not, when it is to be run.
            _ = try SSHEndpoint(host, allowsProxyCommands: true)
        } catch {
            throw APIError(400, "malformed-route", "\(error)")
        }
    }

    private func view(_ name: String) async throws -> HostView {
        guard let view = try await hostViews().first(where: { $0.host.name == name }) else {
            throw APIError(500, "internal", "host \(name) was just enrolled or changed, but is not listed")
        }
        return view
    }
}
