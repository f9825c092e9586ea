import CBerthSystem
import Foundation

/// A listening Unix socket, open to its own user only.
package final class UnixListener: Sendable {
    private let descriptor: FileDescriptor
    /// Where it listens.
    package let path: String

    /// Binds the path, replacing a stale socket: hold a lock that proves that nobody listens there.
    /// - Throws: `SystemError`
    package init(path: String) throws {
        let number = berth_unix_socket(path, 64)
        guard number >= 0 else { throw SystemError(operation: "listen at", path: path, code: -number) }
        descriptor = FileDescriptor(adopting: number)
        self.path = path
    }

    /// The next connection. Blocks; throws EINVAL after `shutdown()`.
    /// - Throws: `SystemError`
    package func accept() throws -> SocketConnection {
        let number = try retryingInterrupts("accept at", path) { Foundation.accept(descriptor.number, nil, nil) }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        return SocketConnection(adopting: number)
    }

    /// Ends `accept()` and removes the socket's name.
    package func shutdown() {
        #if os(Linux)
            _ = Foundation.shutdown(descriptor.number, Int32(SHUT_RDWR))
        #else
            _ = Foundation.shutdown(descriptor.number, SHUT_RDWR)
        #endif
        unlink(path)
    }
}
