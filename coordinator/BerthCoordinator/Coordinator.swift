import BerthArchive
import BerthCore
import BerthHosts
import BerthStore
import BerthSystem
import Foundation

/// The composition root: starts the parts in order, serves until it is asked to end, stops them in reverse.
package struct Coordinator: Sendable {
    private let configuration: CoordinatorConfiguration
    private let log = Log(component: "coordinator")

    package init(_ configuration: CoordinatorConfiguration) {
        self.configuration = configuration
    }

    /// Serves until the task is cancelled.
    /// - Parameter ready: called with the API's address once everything is up.
    /// - Throws: `FileLockError.held` when another coordinator uses the data folder, `StoreError`, `SystemError`
    package func run(ready: @escaping @Sendable (String) -> Void) async throws {
        let folder = configuration.dataFolder
        try DurableFile.makeFolder(folder, lasting: true)
        let lock = try FileLock.acquire(
            path: "\(folder)/coordinator.lock",
            holder: "berth-coordinator, process \(ProcessInfo.processInfo.processIdentifier)"
        )
        defer { lock.release() }
        let identity = try identity()
        let store =
            if let database = configuration.database {
                try await Store.open(postgres: database, coordinator: identity)
            } else {
                try await Store.open(path: "\(folder)/store.sqlite")
            }
        let archive = try CoordinatorArchive(path: configuration.archiveFolder ?? "\(folder)/archive")
        try await prepare(store)
        let ssh = SSHEventLoopGroup(count: configuration.sshThreads)
        try ssh.start()
        let farm = Farm(
            name: identity,
            store: store,
            archive: archive,
            leases: configuration.leases,
            open: HostChannel.overSSH(on: ssh, allowsProxyCommands: configuration.allowsProxyCommands)
        )
        let api = API(
            farm: farm,
            store: store,
            archive: archive,
            ssh: ssh,
            policies: [.standard] + configuration.policies,
            allowsProxyCommands: configuration.allowsProxyCommands
        )
        let server = HTTPServer(
            address: configuration.address,
            port: configuration.port,
            limits: HTTPLimits(maxBodyBytes: { API.bodyLimit(method: $0, path: $1) }),
            admission: { await api.refusal(of: $0) },
            handler: { await api.handle($0) }
        )
        let port = try server.start()
        let url = "http://\(configuration.address):\(port)"
        try writeAddress(url)
        log.notice("Serving", ["address": url, "data": folder, "store": store.name])
        ready(url)
        let result: Result<Void, any Error>
        do {
            try await farm.run(url: url)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await server.stop()
        await ssh.stop()
        await store.close()
        log.notice("Stopped")
        try result.get()
    }

    /// Tells where the API is, for who does not know it otherwise. Whoever knows it can be served without the file.
    private func writeAddress(_ url: String) throws {
        let path = "\(configuration.dataFolder)/address"
        do {
            try DurableFile.replace(path, with: Array("\(url)\n".utf8))
        } catch let error as SystemError where error.isDiskFull {
            // A former address would lead astray.
            unlink(path)
            log.error(
                "The disk is full: the file with the address is missing, and what needs to be written down waits",
                ["address": url, "problem": "\(error)"]
            )
        }
    }

    /// Built-in cases and the first token.
    private func prepare(_ store: Store) async throws {
        let now = Timestamp.now().milliseconds
        let isSetUp = try await !store.tokens().isEmpty
        do {
            for definition in BuiltInCases.all {
                try await store.addCase(
                    definition,
                    digest: Digest.sha256(of: try CanonicalJSON.encode(definition)),
                    now: now
                )
            }
        } catch StoreError.storageFull where isSetUp {
            log.error("The disk is full: new built-in cases are there after a start with room for them", [:])
        }
        guard !isSetUp else { return }
        let path = "\(configuration.dataFolder)/admin.token"
        // The file comes first: a start that was cut off in between goes on with it, and nobody is locked out.
        if access(path, F_OK) != 0 {
            try DurableFile.replace(path, with: Array("\(Hex.encode(RandomBytes.make(24)))\n".utf8))
        }
        let token = String(decoding: try DurableFile.read(path, limit: 4096), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        do {
            try await store.addToken(
                name: "admin",
                hash: Digest.sha256(of: Array(token.utf8)),
                role: "admin",
                actor: "the coordinator's first start",
                now: now
            )
        } catch StoreError.tokenTaken {
            unlink(path)
            log.notice("The store has an admin token already, made by the coordinator that was first", [:])
            return
        }
        log.notice("Made the first token", ["file": path])
    }

    /// The coordinator's lasting name.
    private func identity() throws -> String {
        let path = "\(configuration.dataFolder)/identity"
        if access(path, F_OK) == 0 {
            return String(decoding: try DurableFile.read(path, limit: 256), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let name = "coordinator-\(Hex.encode(RandomBytes.make(4)))"
        try DurableFile.replace(path, with: Array("\(name)\n".utf8))
        return name
    }
}
