import BerthSystem
import Foundation

/// Connects to an sshd and reads its greeting, then hangs up. Blocks; everything within one deadline.
struct GreetingReader {
    private static let most = 128 << 10

    private let host: String
    private let port: UInt16
    private let limit: Duration
    private let start = ContinuousClock.now
    private let deadline: ContinuousClock.Instant

    init(host: String, port: UInt16, limit: Duration) {
        self.host = host
        self.port = port
        self.limit = limit
        deadline = start + limit
    }

    /// - Parameters:
    ///   - carried: a socket that leads to the host already; nil: connect by TCP.
    ///   - addresses: where to connect to, in this order; nil: where the resolver says.
    /// - Returns: what the sshd says.
    /// - Throws: `SSHError.nameNotResolved`, `.unreachable`, `.timedOut`, `.disconnected`, `.protocolFailure`
    func read(over carried: FileDescriptor?, addresses: [SocketAddress]? = nil) throws(SSHError) -> SSHGreeting {
        let socket = if let carried { carried } else { try connect(addresses) }
        let connected = ContinuousClock.now
        try setNonBlocking(socket)
        try send(Array("SSH-2.0-Berth_doctor\r\n".utf8), over: socket)
        var bytes: [UInt8] = []
        var banner: String?
        while banner == nil {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
                try receive(&bytes, from: socket)
                continue
            }
            // Lines before the version are allowed (RFC 4253, 4.2).
            let line = String(decoding: bytes[..<end], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            bytes.removeFirst(end + 1)
            if line.hasPrefix("SSH-") { banner = line }
        }
        while bytes.count < 5 { try receive(&bytes, from: socket) }
        let length = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let padding = Int(bytes[4])
        guard length > padding + 1, length <= Self.most else { throw malformed("its first packet has no sense") }
        while bytes.count < length + 4 { try receive(&bytes, from: socket) }
        guard let lists = SSHGreeting.nameLists(of: Array(bytes[5..<(4 + length - padding)])) else {
            throw malformed("its first packet is no key exchange")
        }
        return SSHGreeting(
            banner: banner ?? "",
            keyExchanges: lists[0],
            hostKeyTypes: lists[1],
            ciphers: lists[2],
            macs: lists[4],
            compressions: lists[6],
            connectTime: connected - start,
            greetingTime: .now - start
        )
    }

    /// Each address gets an equal share of the time that those before it have left.
    private func connect(_ given: [SocketAddress]?) throws(SSHError) -> FileDescriptor {
        var reason = "it has no address"
        let addresses =
            if let given { given } else { try SocketAddress.resolve(host: host, port: port, numericOnly: false) }
        for (place, address) in addresses.enumerated() {
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let number = socket(address.family, type, 0)
            guard number >= 0 else {
                reason = String(cString: strerror(errno))
                continue
            }
            let descriptor = FileDescriptor(adopting: number)
            let result = address.withSocketAddress { Foundation.connect(number, $0, $1) }
            if result != 0, errno != EINPROGRESS {
                reason = String(cString: strerror(errno))
                continue
            }
            let share = ContinuousClock.now + (deadline - .now) / (addresses.count - place)
            do {
                try wait(descriptor, Int16(POLLOUT), .connecting, until: share)
            } catch SSHError.timedOut where place + 1 < addresses.count {
                continue
            }
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size)
            if code == 0 { return descriptor }
            reason = String(cString: strerror(code))
        }
        throw .unreachable(host: host, port: port, reason: reason)
    }

    private func setNonBlocking(_ socket: FileDescriptor) throws(SSHError) {
        guard fcntl(socket.number, F_SETFL, O_NONBLOCK) == 0 else {
            throw .unreachable(host: host, port: port, reason: String(cString: strerror(errno)))
        }
    }

    private func send(_ bytes: [UInt8], over socket: FileDescriptor) throws(SSHError) {
        // The first bytes on a connection always find room.
        let sent = Foundation.send(socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        guard sent == bytes.count else { throw disconnected(String(cString: strerror(errno))) }
    }

    private func receive(_ bytes: inout [UInt8], from socket: FileDescriptor) throws(SSHError) {
        guard bytes.count < Self.most else { throw malformed("it sends no SSH greeting") }
        try wait(socket, Int16(POLLIN), .exchangingKeys)
        let part: [UInt8]
        do {
            part = try socket.read(upTo: 16 << 10)
        } catch let error as SystemError {
            if error.code == EAGAIN { return }
            throw disconnected(String(cString: strerror(error.code)))
        } catch {
            throw disconnected("\(error)")
        }
        guard !part.isEmpty else { throw disconnected("it closed the connection before its greeting was complete") }
        bytes += part
    }

    private func wait(
        _ socket: FileDescriptor,
        _ events: Int16,
        _ stage: SSHError.Stage,
        until end: ContinuousClock.Instant? = nil
    ) throws(SSHError) {
        while true {
            let left = min(end ?? deadline, deadline) - .now
            guard left > .zero else { throw .timedOut(host: host, port: port, stage: stage, limit: limit) }
            var entry = pollfd(fd: socket.number, events: events, revents: 0)
            let count = poll(&entry, 1, Int32(clamping: Int64(left / .milliseconds(1)) + 1))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw disconnected(String(cString: strerror(errno))) }
        }
    }

    private func disconnected(_ reason: String) -> SSHError {
        .disconnected(host: host, port: port, stage: .exchangingKeys, reason: reason)
    }

    private func malformed(_ reason: String) -> SSHError {
        .protocolFailure(host: host, port: port, stage: .exchangingKeys, code: 0, message: reason)
    }
}

extension SSHEventLoopGroup {
    /// Reads an sshd's greeting by the endpoint's route, when it is its turn; no key and no login is sent to it.
    /// - Parameters:
    ///   - endpoint: the host and the way to it.
    ///   - limit: for everything but the resolver.
    /// - Returns: the greeting.
    /// - Throws: `SSHError`
    package func greeting(of endpoint: SSHEndpoint, within limit: Duration) async throws(SSHError) -> SSHGreeting {
        try await pass(endpoint) { () throws(SSHError) in
            let proxy = try await SSHProxy.start(for: endpoint)
            let (host, port) = (endpoint.hostName, endpoint.port)
            let result: Result<SSHGreeting, SSHError> = await withCheckedContinuation { continuation in
                Threads.detach(name: "ssh-greeting") {
                    let reader = GreetingReader(host: host, port: port, limit: limit)
                    continuation.resume(
                        returning: Result { () throws(SSHError) in try reader.read(over: proxy?.socket) }
                    )
                }
            }
            defer { proxy?.end() }
            guard case .failure(let error) = result, let proxy else { return try result.get() }
            throw await proxy.explain(error, host: host, port: port)
        }
    }
}
