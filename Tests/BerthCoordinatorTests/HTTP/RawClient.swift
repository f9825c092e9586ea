import BerthSystem
import Foundation

/// A TCP client that sends exactly the bytes it is given. Each call runs on a thread of its own.
struct RawClient: Sendable {
    /// What came back, taken apart just enough.
    struct Answer: Sendable {
        let status: Int
        let head: String
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let descriptor: FileDescriptor

    init(port: UInt16) throws {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        descriptor = FileDescriptor(adopting: number)
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

    func send(_ text: String, _ body: [UInt8] = []) async throws {
        let bytes = Array(text.utf8) + body
        try await Threads.run(name: "raw-send") { [descriptor] in
            var sent = 0
            try bytes.withUnsafeBytes { buffer in
                while sent < buffer.count {
                    sent += try retryingInterrupts("send") {
                        Foundation.send(
                            descriptor.number,
                            buffer.baseAddress?.advanced(by: sent),
                            buffer.count - sent,
                            Int32(MSG_NOSIGNAL)
                        )
                    }
                }
            }
        }
    }

    /// The next bytes, up to 64 KiB; empty at the end.
    func receive() async throws -> [UInt8] {
        try await Threads.run(name: "raw-receive") { [descriptor] in try descriptor.read(upTo: 64 << 10) }
    }

    /// Everything until a text has come, or the end.
    func receive(until text: String) async throws -> String {
        var bytes: [UInt8] = []
        while !String(decoding: bytes, as: UTF8.self).contains(text) {
            let next = try await receive()
            if next.isEmpty { break }
            bytes += next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// One answer with a Content-Length; for HEAD, none of the body is expected.
    func answer(hasBody: Bool = true) async throws -> Answer {
        try await Threads.run(name: "raw-answer") { [descriptor] in
            var bytes: [UInt8] = []
            let blank = Array("\r\n\r\n".utf8)
            var headEnd: Int?
            while headEnd == nil {
                // Byte by byte, so that nothing of a following answer is taken.
                let next = try descriptor.read(upTo: 1)
                if next.isEmpty { break }
                bytes += next
                if bytes.suffix(4) == blank[...] { headEnd = bytes.count }
            }
            let head = String(decoding: bytes, as: UTF8.self)
            let lines = head.components(separatedBy: "\r\n")
            let status = lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
            let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            let count = length.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
            var body: [UInt8] = []
            while hasBody, body.count < count {
                let next = try descriptor.read(upTo: count - body.count)
                if next.isEmpty { break }
                body += next
            }
            return Answer(status: status, head: head, body: body)
        }
    }

    /// Ends our direction; answers still come.
    func finishSending() {
        shutdown(descriptor.number, Int32(SHUT_WR))
    }

    /// Ends both directions at once.
    func leave() {
        shutdown(descriptor.number, Int32(SHUT_RDWR))
    }
}
