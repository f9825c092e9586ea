import BerthSystem
import Dispatch
import Foundation

/// Serves the connections of a listener, each on a thread of its own.
enum ConnectionThreads {
    /// Most connections that are served at once; more wait in the kernel's queue.
    private static let most = 64

    /// Accepts until the listener is shut down. Blocks.
    static func serve(
        _ listener: UnixListener,
        name: String,
        _ body: @escaping @Sendable (SocketConnection) -> Void
    ) {
        // Filled by hand: Dispatch traps when a semaphore goes with a lower value than it was made with.
        let free = DispatchSemaphore(value: 0)
        for _ in 0..<most { free.signal() }
        while true {
            free.wait()
            do {
                let connection = try listener.accept()
                Threads.detach(name: name) {
                    body(connection)
                    free.signal()
                }
            } catch let error as SystemError where error.code == EINVAL || error.code == EBADF {
                return
            } catch {
                // Such as too many open files: others must close theirs first.
                Log(component: "supervisor").error("A connection was not accepted", ["error": "\(error)"])
                free.signal()
                usleep(50_000)
            }
        }
    }
}
