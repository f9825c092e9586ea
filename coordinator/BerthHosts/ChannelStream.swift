import Foundation

/// Moves bytes between an open channel and its core, one libssh2 operation at a time.
///
/// The rule it exists for: while libssh2 holds a packet that is partly sent, only the very call that sent it may
/// follow, with the same buffer and length. That call is `pending`, and nothing else is done before it is through.
/// libssh2 also sends small packets of its own while it reads (answers, window adjustments) and keeps some of them on
/// the C stack; so no operation is begun unless the socket has room for such packets.
final class ChannelStream {
    private enum Operation {
        case read
        case readErrorOutput
        case takeIn
        case write
        case sendEndOfStream
        case waitForClose
        case probe
    }

    /// A request for a sign of life.
    private enum Probe {
        case none
        /// To be made, or to be looked at because something has arrived.
        case due
        /// Nothing has arrived since.
        case unanswered
    }

    /// A write that did not go through though nothing is partly sent.
    private enum WriteHold {
        /// The peer's window is closed; its adjustment opens it.
        case window
        /// A key exchange is under way; something has to arrive first.
        case keyExchange
    }

    /// How to go on after `run`.
    enum Outcome {
        /// Call again when the socket has one of these events.
        case wait(Int16)
        /// Call again soon; others may have their turn before.
        case yield
        case ended(SSHChannelEnd.Cause)
    }

    /// The most that one libssh2 write takes.
    private static let chunkSize = 32_700
    private static let readSize = 64 << 10
    /// Operations in one turn: about 2 MiB, so that one busy host does not starve the others.
    private static let operationsPerTurn = 64
    private static let errorOutputLimit = 1024
    /// How long a command may run on after it has closed its output.
    private static let closeTimeout = Duration.seconds(2)
    /// How long a write is held back before it is tried again though nothing has arrived.
    private static let holdTimeout = Duration.milliseconds(250)

    private let session: LibSSH2Session
    private let socket: TCPSocket
    private let core: ChannelCore
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readSize, alignment: 16)
    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkSize, alignment: 16)
    /// The part of `chunk` that is still to be sent.
    private var unsent = 0..<0
    private var pending: Operation?
    private var mayHaveInput = true
    private var writeHold: WriteHold?
    private var hasSentEnd = false
    private var readLast = false
    /// When waiting for the close is given up; set at the end of the stream.
    private var closeDeadline: ContinuousClock.Instant?
    /// When a write that is held back is tried again. What releases it may have been taken from the socket by libssh2
    /// while it was busy with something else, and then no event of the socket tells of it.
    private var holdDeadline: ContinuousClock.Instant?
    private var watch: PeerWatch
    private var probe = Probe.none
    private(set) var errorOutput: [UInt8] = []

    init(session: LibSSH2Session, socket: TCPSocket, core: ChannelCore, watch: PeerWatch) {
        self.session = session
        self.socket = socket
        self.core = core
        self.watch = watch
    }

    deinit {
        readBuffer.deallocate()
        chunk.deallocate()
    }

    /// When `run` has to be called even if nothing happened.
    var deadline: ContinuousClock.Instant {
        min(watch.deadline, closeDeadline ?? watch.deadline, holdDeadline ?? watch.deadline)
    }

    /// Whether libssh2 could be asked for something else now.
    var isIdle: Bool { pending == nil && socket.isWritable }

    /// Does what can be done without waiting.
    func run(events: Int16, now: ContinuousClock.Instant) throws(LibSSH2Failure) -> Outcome {
        if events & Int16(POLLIN | POLLHUP) != 0 {
            mayHaveInput = true
            writeHold = nil
            socket.acknowledgeAtOnce()
            watch.heard(now)
            if probe == .unanswered { probe = .due }
        }
        if watch.isDead(now) {
            // While a packet is partly sent nothing may be read, so what has arrived is not noticed otherwise.
            guard socket.isReadable else { return .ended(.deadPeer) }
            watch.heard(now)
        }
        if watch.shouldAsk(now), probe == .none { probe = .due }
        if let holdDeadline, holdDeadline <= now {
            mayHaveInput = true
            writeHold = nil
        }
        holdDeadline = nil
        for _ in 0..<Self.operationsPerTurn {
            guard let operation = pending ?? nextOperation() else {
                if !unsent.isEmpty || core.hasOutbound { holdDeadline = now.advanced(by: Self.holdTimeout) }
                return .wait(Int16(POLLIN))
            }
            if pending == nil, !socket.isWritable { return .wait(Int16(POLLOUT)) }
            if operation == .waitForClose {
                let deadline = closeDeadline ?? now.advanced(by: Self.closeTimeout)
                closeDeadline = deadline
                if deadline <= now { return .ended(.endOfStream(nil)) }
            }
            if let outcome = try perform(operation, now: now) { return outcome }
        }
        return .yield
    }

    private func nextOperation() -> Operation? {
        if session.isAtEnd { return mayHaveInput || closeDeadline == nil ? .waitForClose : nil }
        if probe == .due { return .probe }
        let write = nextWrite()
        if readLast, let write { return write }
        return nextRead() ?? write
    }

    private func nextRead() -> Operation? {
        let hasOutput = session.hasOutput
        if !hasOutput, session.hasErrorOutput { return .readErrorOutput }
        guard hasOutput || mayHaveInput else { return nil }
        if core.hasRoom(for: Self.readSize) { return .read }
        // Window adjustments and key exchanges must come through even when the consumer is slow.
        return mayHaveInput ? .takeIn : nil
    }

    private func nextWrite() -> Operation? {
        if unsent.isEmpty {
            guard core.hasOutbound else {
                return core.isOutboundFinished && !hasSentEnd ? .sendEndOfStream : nil
            }
            // A message that waits for the window is left in its queue, where others can overtake it.
            guard session.sendWindow > 0 else { return nil }
            let bytes = core.takeOutbound(upTo: Self.chunkSize)
            chunk.copyBytes(from: bytes)
            unsent = 0..<bytes.count
        }
        if writeHold == .window, session.sendWindow > 0 { writeHold = nil }
        return writeHold == nil ? .write : nil
    }

    /// - Returns: nil to go on with the next operation.
    private func perform(_ operation: Operation, now: ContinuousClock.Instant) throws(LibSSH2Failure) -> Outcome? {
        var isBlocked = false
        switch operation {
        case .read:
            readLast = true
            switch try session.read(.output, into: readBuffer) {
            case .done(let count):
                if count > 0 { core.deliver(Array(readBuffer[..<count])) }
            case .blocked:
                isBlocked = true
                mayHaveInput = false
            }
            if writeHold == .keyExchange { writeHold = nil }
        case .readErrorOutput:
            switch try session.read(.errorOutput, into: readBuffer) {
            case .done(let count):
                errorOutput += readBuffer[..<min(count, Self.errorOutputLimit - errorOutput.count)]
            case .blocked:
                isBlocked = true
            }
        case .takeIn:
            readLast = true
            if case .blocked = try session.takeIn() { isBlocked = true }
            mayHaveInput = false
            if writeHold == .keyExchange { writeHold = nil }
        case .write:
            readLast = false
            isBlocked = try write()
        case .sendEndOfStream:
            readLast = false
            if case .blocked = try session.sendEndOfStream() { isBlocked = true } else { hasSentEnd = true }
        case .probe:
            // The peer's data that came before its answer is in the library's queue now, and the socket is empty.
            if case .done = try session.probe() {
                probe = .none
                // The answer may have come within the call, and then no event of the socket tells of it.
                watch.heard(now)
            } else {
                probe = .unanswered
                isBlocked = true
            }
        case .waitForClose:
            mayHaveInput = false
            if case .done = try session.waitForClose() { return .ended(.endOfStream(session.exit)) }
            isBlocked = true
        }
        guard isBlocked, session.blocksOutbound else {
            pending = nil
            return nil
        }
        pending = operation
        return .wait(Int16(POLLOUT) | (session.blocksInbound ? Int16(POLLIN) : 0))
    }

    private func write() throws(LibSSH2Failure) -> Bool {
        do {
            switch try session.write(UnsafeRawBufferPointer(rebasing: chunk[unsent])) {
            case .done(let count):
                unsent = unsent.lowerBound + count..<unsent.upperBound
                return false
            case .blocked:
                if !session.blocksOutbound { writeHold = session.sendWindow == 0 ? .window : .keyExchange }
                return true
            }
        } catch  where session.blocksOutbound && error.kind == .misuse {
            // While it looked for window adjustments libssh2 had to answer something and could not finish that.
            // Nothing of our data was taken; the same call finishes the answer first.
            return true
        }
    }
}
