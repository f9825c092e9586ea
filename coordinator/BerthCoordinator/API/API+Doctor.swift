import BerthCore
import BerthStore

/// Examining a host.
extension API {
    /// Examines a host now; this takes up to a minute.
    func doctor(_ name: String) async throws -> DoctorReport {
        let hosts = try await store.hosts()
        guard let host = hosts.first(where: { $0.name == name }) else {
            throw StoreError.unknownHost(name: name, known: hosts.map(\.name))
        }
        let view = try await hostViews().first { $0.host.name == name }
        return await HostDoctor.examine(host, view: view, ssh: ssh, allowsProxyCommands: allowsProxyCommands)
    }
}
