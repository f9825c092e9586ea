import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization

/// A TCP proxy to a loopback port that can stop forwarding, for a time or for ever, and delay what it forwards. Both
/// ends' kernels go on answering, as they do when the break is somewhere behind a proxy or jump host.
final class WeatherProxy: Sendable {
    private struct Weather {
        var isBlocked = false
        var delay: UInt32 = 0
    }

    let port: UInt16
    private let target: UInt16
    private let listener: LoopbackListener
    private let weather = Mutex(Weather())

    init(to target: UInt16) throws {
        self.target = target
        listener = try LoopbackListener()
        port = listener.port
        Threads.detach(name: "weather") { [listener, weak self] in
            while let inward = listener.accept() {
                guard let self, let outward = try? LoopbackListener.connect(to: self.target) else { return }
                for (source, sink) in [(inward, outward), (outward, inward)] {
                    Threads.detach(name: "weather") { self.forward(source, sink) }
                }
            }
        }
    }

    /// Forwards nothing until `clear()`.
    func block() { weather.withLock { $0.isBlocked = true } }

    func clear() { weather.withLock { $0 = Weather() } }

    /// Keeps each piece back for a time, in both directions.
    func delay(milliseconds: UInt32) { weather.withLock { $0.delay = milliseconds } }

    func stop() {
        clear()
        shutdown(listener.number, Int32(SHUT_RDWR))
    }

    private func forward(_ source: FileDescriptor, _ sink: FileDescriptor) {
        while let bytes = try? source.read(upTo: 64 << 10), !bytes.isEmpty {
            while weather.withLock({ $0.isBlocked }) { usleep(5000) }
            let delay = weather.withLock { $0.delay }
            if delay > 0 { usleep(delay * 1000) }
            var sent = 0
            while sent < bytes.count {
                // A closed end is no reason for a signal to the whole process.
                let count = bytes[sent...].withUnsafeBytes {
                    send(sink.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { break }
                sent += count
            }
            if sent < bytes.count { break }
        }
        for descriptor in [source, sink] { shutdown(descriptor.number, Int32(SHUT_RDWR)) }
    }
}
