import BerthCore
import BerthSystem
import Foundation

/// Finds out what `berth doctor` wants to know of this host, in a few seconds.
struct HostFactsCollector: Sendable {
    /// How long an agent may take to say that it is there.
    static let patience = Duration.seconds(3)

    private static let log = Log(component: "attach")

    let sockets: String
    let cache: String

    /// Finds the facts while the channel goes on, and tells them.
    func answer(_ query: FactsQuery, over queue: FrameQueue) {
        Task.detached {
            do {
                _ = queue.offer(try HostMessage.facts(try await collect(query)).frame())
            } catch {
                Self.log.error("facts of the host cannot be told", ["error": "\(error)"])
            }
        }
    }

    private func collect(_ query: FactsQuery) async throws -> HostFacts {
        var system = utsname()
        uname(&system)
        let asked = AgentSockets(folder: sockets)
        let agents = try await Threads.run(name: "ask agents") { asked.ask(within: Self.patience) }
        let sshd = await SSHDSettings.collect()
        let mac = await MacFacts.collect()
        return HostFacts(
            request: query.request,
            system: "\(Self.text(&system.sysname)) \(Self.text(&system.release))",
            user: NSUserName(),
            wallClock: Timestamp.now().milliseconds,
            disks: disks,
            agents: agents.facts,
            socketsFolder: sockets,
            socketsProblem: agents.problem,
            sshd: sshd,
            mac: mac
        )
    }

    private var disks: [DiskFacts] {
        [("cache", cache), ("sockets", sockets), ("temporary files", NSTemporaryDirectory())].compactMap {
            purpose,
            path in
            var information = statvfs()
            guard statvfs(path, &information) == 0 else { return nil }
            let unit = Int64(information.f_frsize)
            return DiskFacts(
                purpose: purpose,
                path: path,
                free: Int64(information.f_bavail) * unit,
                total: Int64(information.f_blocks) * unit
            )
        }
    }

    private static func text<Characters>(_ characters: inout Characters) -> String {
        withUnsafeBytes(of: &characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
