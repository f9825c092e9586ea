import BerthSystem
import Foundation

/// A listening socket on a free loopback port.
package struct LoopbackListener: Sendable {
    package let port: UInt16
    private let descriptor: FileDescriptor

    /// The listening descriptor.
    package var number: Int32 { descriptor.number }

    /// - Throws: `SystemError`
    package init() throws {
        descriptor = try Self.makeSocket()
        let number = descriptor.number
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var port: UInt16 = 0
        let code = Self.withAddress(port: 0) { address in
            guard bind(number, address, size) == 0, listen(number, 64) == 0 else { return -1 }
            var bound = sockaddr_in()
            let code = withUnsafeMutablePointer(to: &bound) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &size) }
            }
            port = UInt16(bigEndian: bound.sin_port)
            return code
        }
        guard code == 0 else { throw SystemError(operation: "listen on a port") }
        self.port = port
    }

    /// The next connection; nil when the listener was shut down. Blocks.
    package func accept() -> FileDescriptor? {
        let number = Foundation.accept(descriptor.number, nil, nil)
        return number < 0 ? nil : FileDescriptor(adopting: number)
    }

    /// Connects to a port of this machine.
    /// - Throws: `SystemError`
    package static func connect(to port: UInt16) throws -> FileDescriptor {
        let descriptor = try makeSocket()
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withAddress(port: port, { Foundation.connect(descriptor.number, $0, size) }) == 0 else {
            throw SystemError(operation: "connect to port \(port)")
        }
        return descriptor
    }

    private static func makeSocket() throws -> FileDescriptor {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError(operation: "make a socket") }
        return FileDescriptor(adopting: number)
    }

    private static func withAddress(port: UInt16, _ body: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
