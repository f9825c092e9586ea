import BerthSystem
import Foundation

/// A socket pair whose other end two threads join to a loopback port, with the smallest send buffer the kernel allows:
/// it takes a few KiB at once, and so cuts SSH packets into parts as a congested network does.
struct TightTunnel {
    /// Our end.
    let end: FileDescriptor

    init(port: UInt16) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError(operation: "make a socket pair")
        }
        end = FileDescriptor(adopting: ends[0])
        let farEnd = FileDescriptor(adopting: ends[1])
        var size: Int32 = 1
        setsockopt(end.number, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        let host = FileDescriptor(
            adopting: socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        )
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(host.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw SystemError(operation: "connect to port \(port)") }
        for (source, target) in [(farEnd, host), (host, farEnd)] {
            Threads.detach(name: "tunnel") {
                while let bytes = try? source.read(upTo: 64 << 10), !bytes.isEmpty {
                    guard (try? target.write(bytes)) != nil else { break }
                }
                for descriptor in [source, target] { shutdown(descriptor.number, Int32(SHUT_RDWR)) }
            }
        }
    }
}
