import BerthCore
import BerthSystem
import Foundation

/// A Unix socket that carries frames: a thread reads, a thread writes, a queue stands between writer and world.
package final class FrameSocket: Sendable {
    private let connection: SocketConnection
    package let queue: FrameQueue

    package init(_ connection: SocketConnection, queue: FrameQueue) {
        self.connection = connection
        self.queue = queue
    }

    /// Starts both threads. On the reading thread `receive` is called for each frame and answers whether to go on, and
    /// at last `ended`, with the reason if it was no orderly end.
    package func start(
        name: String,
        receive: @escaping @Sendable (Frame) -> Bool,
        ended: @escaping @Sendable (String?) -> Void
    ) {
        Threads.detach(name: "write \(name)") { self.write() }
        Threads.detach(name: "read \(name)") {
            let reason = self.read(receive)
            self.close()
            ended(reason)
        }
    }

    /// Ends the connection at once; what waits is dropped.
    package func close() {
        queue.abandon()
        connection.shutdown()
    }

    /// Sends what waits, for a short time, and ends the connection.
    package func closeAfterwards(grace: Duration = .milliseconds(500)) {
        queue.finish()
        Threads.detach(name: "close") {
            _ = self.queue.waitUntilDrained(grace)
            self.close()
        }
    }

    private func write() {
        while let bytes = queue.take() {
            do {
                try connection.write(bytes)
            } catch {
                close()
                return
            }
        }
    }

    private func read(_ receive: (Frame) -> Bool) -> String? {
        var decoder = FrameDecoder(expectsPreamble: false)
        do {
            while true {
                let bytes = try connection.read(upTo: FileDescriptor.pieceSize)
                if bytes.isEmpty { return nil }
                decoder.feed(bytes)
                while let frame = try decoder.next() {
                    guard receive(frame) else { return nil }
                }
            }
        } catch {
            return "\(error)"
        }
    }
}
