import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization

/// A TCP proxy to a loopback port whose weather can be made: silence in one direction or both, delay, breaks in the
/// middle, replies that never arrive. Both ends' kernels go on answering while it is silent.
final class FaultyProxy: Sendable {
    private struct Weather {
        var blocksToTarget = false
        var blocksFromTarget = false
        var delay: UInt32 = 0
        /// Connections with a lower number are to be reset.
        var resetBelow = 0
        /// How many more bytes pass before the connection that carries them is reset.
        var bytesLeft: Int?
        var isStopped = false
        var connections = 0
    }

    let port: UInt16
    private let target: Mutex<UInt16>
    private let listener: LoopbackListener
    private let weather = Mutex(Weather())
    /// Of a thousand connections, how many lose the reply to what they asked.
    private let lostReplies: Int
    private let numbers: Mutex<SeededNumbers>
    /// How many connections had a reply.
    let answered = Atomic(0)
    /// How many of them lost it.
    let dropped = Atomic(0)

    /// - Throws: `SystemError`
    init(to target: UInt16, lostReplies: Int = 0, seed: UInt64 = 0) throws {
        self.target = Mutex(target)
        self.lostReplies = lostReplies
        numbers = Mutex(SeededNumbers(seed: seed))
        listener = try LoopbackListener()
        port = listener.port
        Threads.detach(name: "proxy") { self.accept() }
    }

    func aim(at port: UInt16) { target.withLock { $0 = port } }

    func block(toTarget: Bool, fromTarget: Bool) {
        weather.withLock {
            $0.blocksToTarget = toTarget
            $0.blocksFromTarget = fromTarget
        }
    }

    func delay(milliseconds: UInt32) { weather.withLock { $0.delay = milliseconds } }

    func reset() { weather.withLock { $0.resetBelow = $0.connections + 1 } }

    func cut(after bytes: Int) { weather.withLock { $0.bytesLeft = bytes } }

    func clear() {
        weather.withLock {
            $0.blocksToTarget = false
            $0.blocksFromTarget = false
            $0.delay = 0
            $0.bytesLeft = nil
        }
    }

    func stop() {
        weather.withLock { $0.isStopped = true }
        shutdown(listener.number, Int32(SHUT_RDWR))
    }

    private func accept() {
        while let inward = listener.accept() {
            let number = weather.withLock { weather in
                weather.connections += 1
                return weather.connections
            }
            guard let outward = try? LoopbackListener.connect(to: target.withLock { $0 }) else { continue }
            let losesReply = numbers.withLock { Int.random(in: 0..<1000, using: &$0) } < lostReplies
            Threads.detach(name: "proxy \(number)") {
                self.forward(inward, outward, number: number, losesReply: losesReply)
            }
        }
    }

    /// Moves bytes both ways until an end closes or the weather resets the connection.
    private func forward(_ inward: FileDescriptor, _ outward: FileDescriptor, number: Int, losesReply: Bool) {
        var isAnswered = false
        while true {
            let now = weather.withLock { $0 }
            if now.isStopped || number < now.resetBelow { return reset(inward, outward) }
            var waiting = [
                pollfd(fd: inward.number, events: now.blocksToTarget ? 0 : Int16(POLLIN), revents: 0),
                pollfd(fd: outward.number, events: now.blocksFromTarget ? 0 : Int16(POLLIN), revents: 0),
            ]
            guard poll(&waiting, 2, 20) >= 0 || errno == EINTR else { return }
            // While a direction is silent, nobody learns that the other end has closed.
            if !now.blocksToTarget, waiting[0].revents != 0 {
                guard pass(inward, outward, now.delay) else { return reset(inward, outward) }
            }
            if !now.blocksFromTarget, waiting[1].revents != 0 {
                if !isAnswered, hasBytes(outward) {
                    isAnswered = true
                    answered.add(1, ordering: .relaxed)
                    if losesReply {
                        dropped.add(1, ordering: .relaxed)
                        return reset(inward, outward)
                    }
                }
                guard pass(outward, inward, now.delay) else { return reset(inward, outward) }
            }
            if waiting[0].revents != 0 && now.blocksToTarget || waiting[1].revents != 0 && now.blocksFromTarget {
                usleep(20_000)
            }
        }
    }

    /// Whether there is something to read, and not the end alone.
    private func hasBytes(_ source: FileDescriptor) -> Bool {
        var byte: UInt8 = 0
        return recv(source.number, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// - Returns: false at the end of the stream, or when the connection is to break here.
    private func pass(_ source: FileDescriptor, _ sink: FileDescriptor, _ delay: UInt32) -> Bool {
        guard var bytes = try? source.read(upTo: 64 << 10), !bytes.isEmpty else { return false }
        if delay > 0 { usleep(delay * 1000) }
        let breaks = weather.withLock { weather -> Bool in
            guard let left = weather.bytesLeft else { return false }
            if left > bytes.count {
                weather.bytesLeft = left - bytes.count
                return false
            }
            bytes = Array(bytes.prefix(left))
            weather.bytesLeft = nil
            return true
        }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(sink.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return !breaks
    }

    /// Closes both ends the hard way when this thread lets go of them.
    private func reset(_ inward: FileDescriptor, _ outward: FileDescriptor) {
        var hard = linger(l_onoff: 1, l_linger: 0)
        for end in [inward, outward] {
            setsockopt(end.number, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
        }
    }
}
