import BerthSystem
import Foundation

/// One kept-alive HTTP connection to the coordinator; blocks, for one thread at a time.
final class LoopbackHTTP {
    private let descriptor: FileDescriptor
    private let token: String

    init(port: UInt16, token: String) throws {
        descriptor = try LoopbackSocket.connect(to: port)
        self.token = token
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
