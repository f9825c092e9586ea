import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// The sockets of this host's agents, asked whether anybody is there without taking a channel from anybody: by a hello
/// of version 0, which every agent refuses, saying which versions it speaks.
final class AgentSockets: Sendable {
    private let folder: String
    private let answers = Mutex<[String: AgentFacts]>([:])
    private let connections = Mutex<[SocketConnection]>([])

    init(folder: String) {
        self.folder = folder
    }

    /// Asks all agents at once; for one call.
    /// - Returns: what came of it by slot, or why the folder cannot be read.
    func ask(within limit: Duration) -> (facts: [AgentFacts], problem: String?) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            return ([], "\(folder) cannot be read: \(error.localizedDescription)")
        }
        let slots = names.filter { $0.hasSuffix(".sock") }.map { String($0.dropLast(5)) }
            .filter(SlotName.isValid).sorted()
        let group = DispatchGroup()
        for slot in slots {
            group.enter()
            Threads.detach(name: "ask \(slot)") {
                let facts = self.ask(slot)
                self.answers.withLock { $0[slot] = facts }
                group.leave()
            }
        }
        let seconds = limit / .seconds(1)
        if group.wait(timeout: .now() + seconds) == .timedOut {
            // Those that read come back at once.
            for connection in connections.withLock({ $0 }) { connection.shutdown() }
            _ = group.wait(timeout: .now() + 1)
        }
        let known = answers.withLock { $0 }
        let silent = "it took the connection and did not answer within \(Int(seconds)) s"
        return (slots.map { known[$0] ?? AgentFacts(slot: $0, problem: silent, versions: nil) }, nil)
    }

    private func ask(_ slot: String) -> AgentFacts {
        do {
            let connection = try SocketConnection.connect(unixPath: "\(folder)/\(slot).sock")
            connections.withLock { $0.append(connection) }
            try connection.write(try CoordinatorMessage.hello(.ofNoVersion).frame(route: slot).bytes)
            var decoder = FrameDecoder(expectsPreamble: false)
            while true {
                let bytes = try connection.read(upTo: FileDescriptor.pieceSize)
                if bytes.isEmpty {
                    return AgentFacts(slot: slot, problem: "it closed the connection without a word", versions: nil)
                }
                decoder.feed(bytes)
                while let frame = try decoder.next() {
                    guard case .closing(let closing)? = try? HostMessage.parse(frame.payload) else { continue }
                    return AgentFacts(slot: slot, problem: nil, versions: closing.versions)
                }
            }
        } catch let error as SystemError where error.code == ECONNREFUSED {
            return AgentFacts(slot: slot, problem: "nobody listens: an agent left its socket behind", versions: nil)
        } catch {
            return AgentFacts(slot: slot, problem: "\(error)", versions: nil)
        }
    }
}
