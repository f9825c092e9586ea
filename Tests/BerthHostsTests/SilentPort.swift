import BerthSystem
import Foundation

/// A loopback port that takes connections and says nothing: the kernel queues them and nobody accepts them.
struct SilentPort {
    let port: UInt16
    private let listener: FileDescriptor

    init() throws {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError(operation: "make a socket") }
        listener = FileDescriptor(adopting: number)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, size) == 0 && listen(number, 64) == 0 ? getsockname(number, $0, &size) : -1
            }
        }
        guard code == 0 else { throw SystemError(operation: "listen on a port") }
        port = UInt16(bigEndian: address.sin_port)
    }
}
