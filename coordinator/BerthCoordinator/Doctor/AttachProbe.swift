import BerthCore
import BerthHosts
import BerthSystem
import Synchronization

/// Opens a channel as the farm does, and looks at what answers. No agent's channel is taken: nobody is greeted.
struct AttachProbe {
    /// What came of it.
    struct Outcome: Sendable {
        /// What a shell printed of our own command: the key is not held to one.
        var ranOurCommand = false
        /// Output before the first frame, without our own marker.
        var chatter: [UInt8] = []
        /// From the started command to the first frame.
        var startTime: Duration?
        var hello: HostHello?
        var facts: HostFacts?
        /// The coordinator's clock before the question for facts, and after the answer.
        var asked: Int64 = 0
        var answered: Int64 = 0
        /// The channel was closed because too little came.
        var isTooSlow = false
        /// Why the stream ended, or makes no sense.
        var end: String?
    }

    /// For the first frame.
    static let startLimit = Duration.seconds(15)
    /// For the answer with facts.
    static let factsLimit = Duration.seconds(15)

    private let ssh: SSHEventLoopGroup
    private let endpoint: SSHEndpoint
    /// Printed by a shell that runs our command.
    private let marker = "berth-no-forced-command-\(Hex.encode(RandomBytes.make(8)))"

    init(_ endpoint: SSHEndpoint, on ssh: SSHEventLoopGroup) {
        self.ssh = ssh
        var endpoint = endpoint
        // A forced command takes the place of this one. Otherwise it shows that there is none, then goes on as if.
        endpoint.command = "echo \(marker); exec berth-agent attach"
        self.endpoint = endpoint
    }

    /// - Throws: `SSHError` when no channel can be opened.
    func run() async throws(SSHError) -> Outcome {
        let channel = try await ssh.open(endpoint)
        let outcome = Mutex(Outcome())
        let started = ContinuousClock.now
        // Ended by closing the channel, which ends the reading.
        let limit = Task {
            try await Task.sleep(for: Self.startLimit)
            let hasStarted = outcome.withLock { $0.startTime != nil }
            if hasStarted { try await Task.sleep(for: Self.factsLimit) }
            outcome.withLock { $0.isTooSlow = true }
            await channel.close()
        }
        do {
            try await read(channel, started, outcome)
        } catch {
            outcome.withLock { $0.end = "\(error)" }
        }
        limit.cancel()
        if outcome.withLock({ $0.isTooSlow }) {
            outcome.withLock { $0.end = "it did not answer in time" }
        } else if outcome.withLock({ $0.hello == nil && $0.end == nil }) {
            // The host's own words on how the command ended are on their way.
            let words = await channel.waitForEnd().description
            outcome.withLock { $0.end = words }
        }
        await channel.close()
        return outcome.withLock { $0 }
    }

    private func read(
        _ channel: SSHChannel,
        _ started: ContinuousClock.Instant,
        _ outcome: borrowing Mutex<Outcome>
    ) async throws {
        var head: [UInt8]? = []
        var decoder = FrameDecoder(expectsPreamble: true)
        for await bytes in channel.inbound {
            if var begun = head {
                begun += bytes
                guard let start = begun.firstRange(of: Frame.preamble)?.lowerBound else {
                    head = begun
                    outcome.withLock { take(begun, into: &$0) }
                    guard begun.count <= Frame.chatterLimit else { throw ProbeError.noise(begun.count) }
                    continue
                }
                head = nil
                outcome.withLock {
                    take(Array(begun[..<start]), into: &$0)
                    $0.startTime = .now - started
                }
                try await channel.send(Frame.preamble, lane: .control)
                decoder.feed(Array(begun[start...]))
            } else {
                decoder.feed(bytes)
            }
            while let frame = try decoder.next() {
                guard frame.type == .control, frame.route.isEmpty else { continue }
                switch try HostMessage.parse(frame.payload) {
                case .hostHello(let hello):
                    outcome.withLock {
                        $0.hello = hello
                        $0.asked = Timestamp.now().milliseconds
                    }
                    guard hello.features?.contains(HostHello.factsFeature) == true else { return }
                    let question = CoordinatorMessage.inspect(FactsQuery(request: 1))
                    try await channel.send(try question.frame().bytes, lane: .control)
                case .facts(let facts):
                    outcome.withLock {
                        $0.facts = facts
                        $0.answered = Timestamp.now().milliseconds
                    }
                    return
                case .closing(let closing): throw ProbeError.closed(closing.reason)
                default: continue
                }
            }
        }
    }

    private func take(_ head: [UInt8], into outcome: inout Outcome) {
        let own = Array("\(marker)\n".utf8)
        guard let range = head.firstRange(of: own) else {
            outcome.chatter = head
            return
        }
        outcome.ranOurCommand = true
        outcome.chatter = Array(head[..<range.lowerBound] + head[range.upperBound...])
    }

    private enum ProbeError: Error, CustomStringConvertible {
        case noise(Int)
        case closed(String)

        var description: String {
            switch self {
            case .noise(let count): "\(count) bytes came and no frame of berth-agent"
            case .closed(let reason): "the host closed the channel: \(reason)"
            }
        }
    }
}
