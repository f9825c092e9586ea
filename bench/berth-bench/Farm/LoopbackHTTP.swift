import BerthSystem
import Foundation

/// One kept-alive HTTP connection to the coordinator; blocks, for one thread at a time.
final class LoopbackHTTP {
    private let descriptor: FileDescriptor
    private let token: String

    init(port: UInt16, token: String) throws {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError(operation: "make a socket") }
        descriptor = FileDescriptor(adopting: number)
        self.token = token
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw SystemError(operation: "connect to port \(port)") }
    }

    /// The body of the answer.
    /// - Throws: `BenchFailure` for any answer but success.
    func request(_ method: String, _ path: String, _ body: [UInt8] = []) throws -> [UInt8] {
        let head =
            "\(method) \(path) HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer \(token)\r\n"
            + "Content-Length: \(body.count)\r\n\r\n"
        try descriptor.write(Array(head.utf8) + body)
        var bytes: [UInt8] = []
        while true {
            let part = try descriptor.read(upTo: 64 << 10)
            guard !part.isEmpty else { throw BenchFailure("the coordinator closed the connection") }
            bytes += part
            guard let answer = try Self.answer(bytes) else { continue }
            guard (200...299).contains(answer.status) else {
                throw BenchFailure("\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
            }
            return answer.body
        }
    }

    private static func answer(_ bytes: [UInt8]) throws -> (status: Int, body: [UInt8])? {
        guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        let words = lines[0].split(separator: " ")
        guard let length, words.count > 1, let status = Int(words[1]) else {
            throw BenchFailure("the coordinator's answer cannot be read")
        }
        guard bytes.count >= end.upperBound + length else { return nil }
        return (status, Array(bytes[end.upperBound..<(end.upperBound + length)]))
    }
}
