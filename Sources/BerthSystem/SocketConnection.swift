import CBerthSystem
import Foundation

/// A connected stream socket with blocking calls, for use on threads of its own (`Threads`).
package final class SocketConnection: Sendable {
    private let descriptor: FileDescriptor

    /// Takes ownership of a connected socket.
    package init(adopting number: Int32) {
        descriptor = FileDescriptor(adopting: number)
    }

    /// Connects to a Unix socket; the path may be of any length.
    /// - Throws: `SystemError`
    package static func connect(unixPath path: String) throws -> SocketConnection {
        let number = berth_unix_socket(path, 0)
        guard number >= 0 else { throw SystemError(operation: "connect to", path: path, code: -number) }
        return SocketConnection(adopting: number)
    }

    /// Process ID of the other side, as the kernel knows it.
    package var peerProcess: Int32? {
        let process = berth_peer_process(descriptor.number)
        return process > 0 ? process : nil
    }

    /// User ID of the other side, as the kernel knows it.
    package var peerUser: UInt32? {
        let user = berth_peer_user(descriptor.number)
        return user >= 0 ? UInt32(user) : nil
    }

    /// Reads what is there, up to `count` bytes; empty at the end. Blocks.
    /// - Throws: `SystemError`
    package func read(upTo count: Int) throws -> [UInt8] {
        try descriptor.read(upTo: count)
    }

    /// Reads exactly `count` bytes, or nil if the stream ended before the first of them. Blocks.
    /// - Throws: `SystemError`, with ECONNRESET when the stream ends in between.
    package func readExactly(_ count: Int) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let part = try read(upTo: count - bytes.count)
            if part.isEmpty {
                if bytes.isEmpty { return nil }
                throw SystemError(operation: "read a whole message", code: ECONNRESET)
            }
            bytes += part
        }
        return bytes
    }

    /// Writes all bytes; never raises SIGPIPE. Blocks.
    /// - Throws: `SystemError`
    package func write(_ bytes: some Collection<UInt8>) throws {
        try withContiguousBytes(of: bytes) { buffer in
            var written = 0
            while written < buffer.count {
                written += try retryingInterrupts("write to a socket") {
                    #if os(Linux)
                        let flags = Int32(MSG_NOSIGNAL)
                    #else
                        let flags: Int32 = 0
                    #endif
                    return send(
                        descriptor.number,
                        buffer.baseAddress?.advanced(by: written),
                        buffer.count - written,
                        flags
                    )
                }
            }
        }
    }

    /// Ends both directions; blocked reads return at once. The descriptor closes with the last reference.
    package func shutdown() {
        #if os(Linux)
            _ = Foundation.shutdown(descriptor.number, Int32(SHUT_RDWR))
        #else
            _ = Foundation.shutdown(descriptor.number, SHUT_RDWR)
        #endif
    }
}
