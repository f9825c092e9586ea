import Synchronization

/// What the users of a channel and its connection share: the queues between them and who waits for what.
///
/// The connection, on its loop's thread, delivers and takes bytes; the users' tasks consume and send them.
final class ChannelCore: Sendable {
    /// A suspended `send`, by a number so that its cancellation finds it.
    private struct Sender {
        let number: UInt64
        let continuation: CheckedContinuation<Result<Void, SSHError>, Never>
    }

    /// Everybody who waits for something when the channel ends.
    private struct Waiting {
        let reader: CheckedContinuation<[UInt8]?, Never>?
        let senders: [Sender]
        let endWaiters: [CheckedContinuation<SSHChannelEnd, Never>]
    }

    private struct State {
        var lanes: OutboundLanes<Sender>
        var nextNumber: UInt64 = 0
        var inbound: [[UInt8]] = []
        var inboundHead = 0
        var unreadBytes = 0
        var highestUnreadBytes = 0
        /// The connection stopped reading for want of room.
        var isPaused = false
        var reader: CheckedContinuation<[UInt8]?, Never>?
        var end: SSHChannelEnd?
        var endWaiters: [CheckedContinuation<SSHChannelEnd, Never>] = []
        var isSendingFinished = false
        var isCloseRequested = false
    }

    private let limits: SSHChannelLimits
    private let wake: @Sendable () -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - limits: the bounds of the queues.
    ///   - wake: makes the loop look at the connection.
    init(limits: SSHChannelLimits, wake: @escaping @Sendable () -> Void) {
        self.limits = limits
        self.wake = wake
        state = Mutex(
            State(
                lanes: OutboundLanes(controlBound: limits.controlQueueBytes, bulkBound: limits.bulkQueueBytes)
            )
        )
    }

    // MARK: For the users

    func send(_ bytes: [UInt8], lane: SendLane) async throws(SSHError) {
        guard !bytes.isEmpty else { return }
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enqueue(bytes, lane: lane, sender: Sender(number: number, continuation: continuation))
                if Task.isCancelled { cancelSender(number) }
            }
        } onCancel: {
            cancelSender(number)
        }
        try result.get()
    }

    private func enqueue(_ bytes: [UInt8], lane: SendLane, sender: Sender) {
        let result = state.withLock { state -> Result<Void, SSHError>? in
            if let end = state.end { return .failure(.closed(end)) }
            if state.isSendingFinished { return .failure(.sendingFinished) }
            if state.lanes.enqueue(bytes, lane: lane) { return .success(()) }
            state.lanes.wait(sender, with: bytes, lane: lane)
            return nil
        }
        guard let result else { return }
        if case .success = result { wake() }
        sender.continuation.resume(returning: result)
    }

    private func cancelSender(_ number: UInt64) {
        let sender = state.withLock { $0.lanes.removeWaiting { $0.number == number } }
        sender?.continuation.resume(returning: .failure(.cancelled))
    }

    func finishSending() {
        state.withLock { $0.isSendingFinished = true }
        wake()
    }

    func requestClose() {
        let wasEnded = state.withLock { state in
            state.isCloseRequested = true
            return state.end != nil
        }
        if !wasEnded { wake() }
    }

    /// The next received bytes; nil after the last of an ended channel, and when the task is cancelled.
    func next() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (resumed, bytes, wasPaused) = state.withLock { state in
                    Self.takeInbound(&state, continuation, limits)
                }
                if wasPaused { wake() }
                if resumed { continuation.resume(returning: bytes) }
                if Task.isCancelled { cancelReader() }
            }
        } onCancel: {
            cancelReader()
        }
    }

    private static func takeInbound(
        _ state: inout State,
        _ continuation: CheckedContinuation<[UInt8]?, Never>,
        _ limits: SSHChannelLimits
    ) -> (resumed: Bool, bytes: [UInt8]?, wasPaused: Bool) {
        if state.inboundHead < state.inbound.count {
            let bytes = state.inbound[state.inboundHead]
            state.inbound[state.inboundHead] = []
            state.inboundHead += 1
            if state.inboundHead == state.inbound.count || state.inboundHead >= 256 {
                state.inbound.removeFirst(state.inboundHead)
                state.inboundHead = 0
            }
            state.unreadBytes -= bytes.count
            let resumes = state.isPaused && state.unreadBytes <= limits.unreadBytes / 2
            if resumes { state.isPaused = false }
            return (true, bytes, resumes)
        }
        if state.end != nil { return (true, nil, false) }
        precondition(state.reader == nil, "a channel has one consumer")
        state.reader = continuation
        return (false, nil, false)
    }

    private func cancelReader() {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    var end: SSHChannelEnd? { state.withLock { $0.end } }

    func waitForEnd() async -> SSHChannelEnd {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> SSHChannelEnd? in
                if state.end == nil { state.endWaiters.append(continuation) }
                return state.end
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Received bytes that nobody has taken, now and at most so far.
    var unreadBytes: (now: Int, highest: Int) { state.withLock { ($0.unreadBytes, $0.highestUnreadBytes) } }

    /// Bytes that `send` has queued and libssh2 has not taken.
    var queuedBytes: Int { state.withLock { $0.lanes.queuedBytes } }

    // MARK: For the connection

    var isCloseRequested: Bool { state.withLock { $0.isCloseRequested } }

    /// Whether a read of `count` bytes stays within the bound; if not, the consumer wakes the loop when it does.
    func hasRoom(for count: Int) -> Bool {
        state.withLock { state in
            // Paused reading goes on only from half the bound, so that it does not stutter at the bound.
            if state.isPaused { return false }
            state.isPaused = state.unreadBytes + count > limits.unreadBytes
            return !state.isPaused
        }
    }

    func deliver(_ bytes: [UInt8]) {
        let reader = state.withLock { state -> CheckedContinuation<[UInt8]?, Never>? in
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            state.inbound.append(bytes)
            state.unreadBytes += bytes.count
            state.highestUnreadBytes = max(state.highestUnreadBytes, state.unreadBytes)
            return nil
        }
        reader?.resume(returning: bytes)
    }

    /// Takes out the next bytes to send and lets waiting senders in.
    func takeOutbound(upTo limit: Int) -> [UInt8] {
        let (bytes, admitted) = state.withLock { $0.lanes.take(upTo: limit) }
        for sender in admitted { sender.continuation.resume(returning: .success(())) }
        return bytes
    }

    var hasOutbound: Bool { state.withLock { $0.lanes.queuedBytes > 0 } }

    /// Everything was handed over and no more will come.
    var isOutboundFinished: Bool { state.withLock { $0.isSendingFinished && $0.lanes.isEmpty } }

    /// Ends the channel for its users; only the first end counts.
    func finish(_ end: SSHChannelEnd) {
        let waiting = state.withLock { state -> Waiting? in
            guard state.end == nil else { return nil }
            state.end = end
            defer {
                state.reader = nil
                state.endWaiters = []
            }
            return Waiting(reader: state.reader, senders: state.lanes.removeAll(), endWaiters: state.endWaiters)
        }
        guard let waiting else { return }
        waiting.reader?.resume(returning: nil)
        for sender in waiting.senders { sender.continuation.resume(returning: .failure(.closed(end))) }
        for waiter in waiting.endWaiters { waiter.resume(returning: end) }
    }
}
