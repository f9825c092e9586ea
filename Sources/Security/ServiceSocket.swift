import Foundation
import Glibc

/// A connection to a Unix socket that carries messages with a four-byte length before them.
final class ServiceSocket {
    /// A system call that failed.
    struct Failure: Error, CustomStringConvertible {
        let action: String
        let code: Int32

        var description: String { "\(action): \(String(cString: strerror(code)))" }
    }

    private let descriptor: Int32

    /// Connects; the path may be longer than a socket address, since it is reached through its folder's descriptor.
    init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        let folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Failure(action: "the device's folder", code: errno) }
        defer { close(folder) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array("/proc/self/fd/\(folder)/\(url.lastPathComponent)".utf8CString)
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(action: "the socket's name", code: ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            bytes.withUnsafeBytes { target.copyMemory(from: $0) }
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(action: "a socket", code: errno) }
        let connected = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw Failure(action: "connecting to the device", code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Sends one message whole.
    func send(_ message: Data) throws {
        var frame = withUnsafeBytes(of: UInt32(message.count).bigEndian) { Data($0) }
        frame.append(message)
        try frame.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let count = Glibc.send(
                    descriptor,
                    buffer.baseAddress?.advanced(by: sent),
                    buffer.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw Failure(action: "sending to the device", code: errno) }
                sent += count
            }
        }
    }

    /// Waits for one message of at most `limit` bytes.
    func receive(limit: Int) throws -> Data {
        let length = try receive(exactly: 4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else { throw Failure(action: "the device's answer", code: EMSGSIZE) }
        return try receive(exactly: length)
    }

    private func receive(exactly count: Int) throws -> Data {
        var data = Data(count: count)
        var received = 0
        while received < count {
            let part = data.withUnsafeMutableBytes { buffer in
                recv(descriptor, buffer.baseAddress?.advanced(by: received), count - received, 0)
            }
            if part < 0 && errno == EINTR { continue }
            guard part >= 0 else { throw Failure(action: "receiving from the device", code: errno) }
            guard part > 0 else { throw Failure(action: "the device's answer", code: ECONNRESET) }
            received += part
        }
        return data
    }
}
