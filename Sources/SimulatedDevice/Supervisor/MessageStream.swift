import BerthSystem
import Foundation

extension SocketConnection {
    /// Reads one message with its four-byte length; nil at the end of the stream. Blocks.
    ///
    /// - Throws: `SystemError`, with EMSGSIZE for a message over `limit` bytes.
    func readMessage(limit: Int) throws -> [UInt8]? {
        guard let prefix = try readExactly(4) else { return nil }
        let length = prefix.reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else { throw SystemError(operation: "read a message", code: EMSGSIZE) }
        guard length > 0 else { return [] }
        guard let message = try readExactly(length) else {
            throw SystemError(operation: "read a whole message", code: ECONNRESET)
        }
        return message
    }

    /// Writes one message with its length. Blocks.
    func writeMessage(_ message: [UInt8]) throws {
        let prefix = withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) }
        try write(prefix + message)
    }
}
