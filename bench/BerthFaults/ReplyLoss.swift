import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// Loses replies on their way between `attach` and the coordinator, after what they answer was done. A stream loses
/// nothing in its middle: with a reply goes everything behind it, until the connection that carried it is made anew.
///
/// - A reply of or to an agent takes its slot's connection along: both directions are silent, the coordinator hears that
///   the slot has left, and some milliseconds later the agent is greeted anew.
/// - A reply of the host itself takes the whole connection along: nothing more comes from the host, then it breaks. That
///   happens to connections that count as stable alone: the coordinator waits longer and longer for others.
final class ReplyLoss: Sendable {
    /// What becomes of a frame.
    enum Fate {
        case passes
        case isLost
        /// It is lost, and the slot's connection with it.
        case breaksSlot
    }

    private struct State {
        var numbers: SeededNumbers
        /// Slots whose connections are broken.
        var broken: Set<String> = []
        /// The coordinator's hello, without which no agent can be greeted.
        var hello: Frame?
        /// Nothing more comes from the host.
        var isSilent = false
    }

    /// After so long a connection is stable, and may break without a pause after it.
    private static let stable: Duration = .milliseconds(10_500)

    /// Of a thousand replies, how many are lost.
    private let permille: Int
    private let notes: FileDescriptor
    private let began = ContinuousClock.now
    private let state: Mutex<State>

    /// - Parameters:
    ///   - permille: of a thousand replies, how many are lost.
    ///   - path: the file that gets a line for each reply.
    ///   - seed: of the chances.
    /// - Throws: `SystemError`
    init(permille: Int, notes path: String, seed: UInt64) throws {
        self.permille = permille
        notes = try FileDescriptor(path: path, flags: O_WRONLY | O_APPEND | O_CREAT)
        state = Mutex(State(numbers: SeededNumbers(seed: seed)))
    }

    /// Decides about a frame from the coordinator.
    func down(_ frame: Frame, _ message: CoordinatorMessage?) -> Fate {
        state.withLock { state in
            if case .hello = message, frame.route.isEmpty { state.hello = frame }
            let kind: ReplyTally.Kind? =
                switch message {
                case .recorded: .recorded
                case .renewed: .renewed
                default: nil
                }
            if state.broken.contains(frame.route) {
                // The coordinator itself greets the agent: the answer ends the silence.
                if case .hello = message { return .passes }
                return lose(kind)
            }
            return draw(kind, frame.route, &state)
        }
    }

    /// Decides about a frame from `attach`.
    /// - Parameters:
    ///   - frame: the frame.
    ///   - message: what it says, if that is a message.
    ///   - ends: called when the whole connection is to break, a while later.
    /// - Returns: what becomes of it.
    func up(_ frame: Frame, _ message: HostMessage?, ends: @escaping @Sendable () -> Void) -> Fate {
        state.withLock { state in
            let kind: ReplyTally.Kind? =
                switch message {
                case .accepted: .accepted
                case .declined: .declined
                case .result: .result
                case .released: .released
                case .missing: .missing
                case .stored: .stored
                case .refused: .refused
                default: nil
                }
            if state.isSilent { return lose(kind) }
            if state.broken.contains(frame.route) {
                guard case .agentHello = message else { return lose(kind) }
                state.broken.remove(frame.route)
                return .passes
            }
            guard frame.route.isEmpty, let kind else { return draw(kind, frame.route, &state) }
            guard permille > 0, ContinuousClock.now - began > Self.stable else {
                note(kind, isLost: false)
                return .passes
            }
            state.isSilent = true
            let pause = UInt32.random(in: 100...1500, using: &state.numbers) * 1000
            Threads.detach(name: "silence") {
                usleep(pause)
                ends()
            }
            return lose(kind)
        }
    }

    /// What the coordinator hears of a broken slot.
    static func farewell(_ slot: String) throws -> Frame {
        try HostMessage.slotLeft(SlotLeft(slot: slot, reason: "its connection broke in the fault harness")).frame()
    }

    /// What greets the agent of a broken slot; nil before the coordinator's hello.
    func greeting(_ slot: String) -> Frame? {
        state.withLock { $0.hello }.map { Frame(type: $0.type, route: slot, payload: $0.payload) }
    }

    private func draw(_ kind: ReplyTally.Kind?, _ route: String, _ state: inout State) -> Fate {
        guard let kind else { return .passes }
        guard Int.random(in: 0..<1000, using: &state.numbers) < permille else {
            note(kind, isLost: false)
            return .passes
        }
        state.broken.insert(route)
        note(kind, isLost: true)
        return .breaksSlot
    }

    private func lose(_ kind: ReplyTally.Kind?) -> Fate {
        if let kind { note(kind, isLost: true) }
        return .isLost
    }

    private func note(_ kind: ReplyTally.Kind, isLost: Bool) {
        // One write a line. A count that is not written is too low, which the figures show.
        try? notes.write(Array(ReplyTally.note(kind, isLost: isLost).utf8))
    }
}
