import BerthSystem
import Foundation
import Synchronization

/// A small HTTP server on a loopback port, so that what the CLI sends really crosses a socket.
final class HTTPPeer: Sendable {
    struct Request: Sendable {
        let method: String
        /// With the query, if there is one.
        let path: String
        /// Names in lower case.
        let headers: [String: String]
        let body: [UInt8]
    }

    struct Response: Sendable {
        var status = 200
        var body: [UInt8] = []
    }

    /// What was asked, shared with the threads that serve.
    private final class Record: Sendable {
        let requests = Mutex<[Request]>([])
    }

    let port: UInt16
    private let listener: Int32
    private let record = Record()

    /// Everything that was asked so far.
    var requests: [Request] { record.requests.withLock { $0 } }

    var address: String { "http://127.0.0.1:\(port)" }

    init(_ answer: @escaping @Sendable (Request) throws -> Response) throws {
        #if os(Linux)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        port = try withUnsafeMutableBytes(of: &address) { bytes in
            guard let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                bind(descriptor, pointer, length) == 0, listen(descriptor, 64) == 0,
                getsockname(descriptor, pointer, &length) == 0
            else { throw SystemError(operation: "listen on a loopback port") }
            return UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
        Threads.detach(name: "peer") { [record] in
            while true {
                let number = accept(descriptor, nil, nil)
                guard number >= 0 else { return }
                let connection = SocketConnection(adopting: number)
                Threads.detach(name: "peer connection") {
                    try? Self.serve(connection) { request in
                        record.requests.withLock { $0.append(request) }
                        return try answer(request)
                    }
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ connection: SocketConnection, _ answer: (Request) throws -> Response) throws {
        var bytes: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        var head: Range<Int>?
        while head == nil {
            let part = try connection.read(upTo: 1 << 16)
            if part.isEmpty { return }
            bytes += part
            head = bytes.firstRange(of: end)
        }
        guard let head else { return }
        let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        let headers = lines.dropFirst().reduce(into: [String: String]()) { headers, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        var body = Array(bytes[head.upperBound...])
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        if headers["expect"] != nil { try connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        while body.count < length {
            let part = try connection.read(upTo: 1 << 16)
            if part.isEmpty { return }
            body += part
        }
        let response: Response
        do {
            response = try answer(Request(method: words[0], path: words[1], headers: headers, body: body))
        } catch {
            response = Response(status: 500, body: Array("\(error)".utf8))
        }
        let header =
            "HTTP/1.1 \(response.status) Answer\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(response.body.count)\r\nConnection: close\r\n\r\n"
        try connection.write(Array(header.utf8) + response.body)
        connection.shutdown()
    }
}
