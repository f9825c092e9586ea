import BerthSystem
import Foundation

/// A non-blocking TCP socket with the options of an SSH connection.
struct TCPSocket {
    /// TCP's fixed option numbers, which not every C module exports.
    private enum Option {
        static let quickAcknowledgement: Int32 = 12
        static let userTimeout: Int32 = 18
        static let notSentLowWater: Int32 = 25
    }

    /// More than this many unsent bytes make the socket unwritable: what waits here cannot be overtaken.
    private static let notSentLimit: Int32 = 128 << 10

    private let descriptor: FileDescriptor

    var number: Int32 { descriptor.number }

    /// Makes the socket and begins to connect.
    /// - Throws: `SystemError`
    init(connectingTo address: SocketAddress, endpoint: SSHDestination) throws {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(address.family, type, 0)
        guard number >= 0 else { throw SystemError(operation: "make a socket") }
        descriptor = FileDescriptor(adopting: number)
        let level = Int32(IPPROTO_TCP)
        set(level, Int32(TCP_NODELAY), 1)
        set(level, Option.notSentLowWater, Self.notSentLimit)
        set(level, Option.userTimeout, Self.count(of: .milliseconds(1), in: endpoint.deadPeerAfter))
        let interval = Self.count(of: .seconds(1), in: endpoint.keepaliveInterval)
        set(level, Int32(TCP_KEEPIDLE), interval)
        set(level, Int32(TCP_KEEPINTVL), interval)
        set(level, Int32(TCP_KEEPCNT), max(1, Self.count(of: .seconds(1), in: endpoint.deadPeerAfter) / interval))
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        if let size = endpoint.sendBufferSize { set(SOL_SOCKET, SO_SNDBUF, Int32(clamping: size)) }
        let result = address.withSocketAddress { connect(number, $0, $1) }
        guard result == 0 || errno == EINPROGRESS || errno == EINTR else { throw SystemError(operation: "connect") }
    }

    /// Takes a socket that somebody else has connected, of whatever kind.
    /// - Throws: `SystemError`
    init(connected descriptor: FileDescriptor) throws {
        self.descriptor = descriptor
        try retryingInterrupts("make a socket non-blocking") { fcntl(descriptor.number, F_SETFL, O_NONBLOCK) }
    }

    /// The pending error of the socket, which this clears; nil if there is none.
    var error: SystemError? {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else {
            return SystemError(operation: "look at a socket")
        }
        return code == 0 ? nil : SystemError(operation: "use the connection", code: code)
    }

    /// Whether the socket takes bytes at this moment.
    var isWritable: Bool {
        var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    /// Whether something has arrived that was not read.
    var isReadable: Bool {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    /// Acknowledges what arrives next at once. sshd leaves Nagle's algorithm on for channels without a terminal, so a
    /// delayed acknowledgement holds the second half of an answer back for 40 ms. The kernel forgets this; say it often.
    func acknowledgeAtOnce() {
        set(Int32(IPPROTO_TCP), Option.quickAcknowledgement, 1)
    }

    /// Ends both directions: every later operation on the socket returns at once.
    func endBothDirections() {
        shutdown(number, Int32(SHUT_RDWR))
    }

    /// How often a unit fits into a duration, at least once.
    private static func count(of unit: Duration, in duration: Duration) -> Int32 {
        Int32(max(1, min(duration / unit, Double(Int32.max))))
    }

    private func set(_ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        // An option that the system does not know is no reason not to connect.
        setsockopt(number, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
