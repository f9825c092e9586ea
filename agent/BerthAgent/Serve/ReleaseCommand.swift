import BerthCore
import BerthSystem
import Foundation

/// `berth-agent release`: has a slot's agent let go of what it keeps after failures, held phones, quarantined phones and
/// preserved simulators, and says what came of it.
package enum ReleaseCommand {
    private static let interval: Duration = .milliseconds(100)

    /// Runs the command.
    /// - Throws: `AgentFailure`, with status `notClean` when the phone is not proved clean or the agent does not answer
    package static func run(_ arguments: some Sequence<String>) async throws {
        let arguments = try CommandArguments(arguments, known: ["--state", "--unclean", "--wait"])
        let state = ServeOptions.absolute(try arguments.required("--state"))
        let patience = try arguments.number("--wait", in: 0...86_400, default: 600)
        guard access(state, F_OK) == 0 else { throw AgentFailure(.usage, "--state \(state): there is no such folder") }
        let before = try Holding(state)
        guard !before.isEmpty else { return say("Nothing is kept: the slot is free.\n") }
        let request = ReleaseRequest(state: state)
        let order = ReleaseRequest.Order(unclean: arguments.optional("--unclean"))
        try request.give(order)
        say("Asked the agent to release \(before).\n")
        let deadline = ContinuousClock.now + .seconds(patience)
        while true {
            let now = try Holding(state)
            if now.isEmpty { return say("Released: the slot is free.\n") }
            if let record = now.record, record.stage == .quarantined, record.order == order.id {
                throw AgentFailure(
                    .notClean,
                    "the phone is not proved clean (\(record.cause.map(\.description) ?? "unknown")) and stays in quarantine; "
                        + "put that right and release it again, or take it as it is with --unclean REASON"
                )
            }
            guard ContinuousClock.now < deadline else {
                throw AgentFailure(
                    .notClean,
                    "the agent has not released \(now) within \(patience) s; does it run? It acts at its next start at the latest"
                )
            }
            try await Task.sleep(for: interval)
        }
    }

    private static func say(_ text: String) { StandardStreams.writeOutput(text) }

    /// What a state folder says is kept.
    private struct Holding: CustomStringConvertible {
        let record: HardwareRecord?
        let preserved: [String]

        init(_ state: String) throws {
            record = try HardwareRecordFile(state: state).record
            preserved = Folders.names(in: state + "/preserved").filter { $0.hasSuffix(".json") }
        }

        var isEmpty: Bool { record == nil && preserved.isEmpty }

        var description: String {
            if let record { return "the phone that is \(record.stage.rawValue) after attempt \(record.attempt)" }
            return "\(preserved.count) preserved simulator\(preserved.count == 1 ? "" : "s")"
        }
    }
}
