import BerthSystem
import CMicroHTTPD
import Foundation
import Synchronization

/// A small HTTP/1.1 server on libmicrohttpd: one thread of the library serves all connections, handlers run as tasks.
///
/// A slow client or handler holds up nobody else. Bodies are collected in memory up to their limit.
package final class HTTPServer: Sendable {
    private enum State {
        case new
        case running(Daemon)
        case stopped
    }

    /// The running library, and what keeps it valid.
    ///
    /// Unchecked: the handle is used by `stop()` only, which takes it out of the state first.
    private struct Daemon: @unchecked Sendable {
        let handle: OpaquePointer
        let listener: FileDescriptor
    }

    private let address: String
    private let port: UInt16
    private let core: HTTPServerCore
    private let state = Mutex(State.new)

    /// - Parameters:
    ///   - address: a numeric address to listen on.
    ///   - port: 0 for any free one.
    ///   - limits: bounds on requests and connections.
    ///   - admission: looks at a request that has a body before the body is taken, and refuses it with an answer; absent:
    ///     all are taken.
    ///   - handler: answers a request; it may take its time. It is not cancelled when the client leaves.
    package init(
        address: String = "127.0.0.1",
        port: UInt16,
        limits: HTTPLimits = HTTPLimits(),
        admission: (@Sendable (HTTPRequest) async -> HTTPResponse?)? = nil,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.address = address
        self.port = port
        core = HTTPServerCore(limits: limits, admission: admission, handler: handler)
    }

    /// Listens and serves.
    /// - Returns: the port that it listens on.
    /// - Throws: `HTTPServerError`
    package func start() throws(HTTPServerError) -> UInt16 {
        let isNew = state.withLock { if case .new = $0 { true } else { false } }
        guard isNew else { throw .alreadyStarted }
        let (listener, boundPort) = try Self.listen(address: address, port: port)
        guard let handle = startLibrary(listener: listener) else { throw .libraryFailed }
        state.withLock { $0 = .running(Daemon(handle: handle, listener: listener)) }
        return boundPort
    }

    /// Accepts no more, lets running handlers finish within `HTTPLimits.stopTimeout`, and closes everything.
    package func stop() async {
        let daemon = state.withLock { state -> Daemon? in
            guard case .running(let daemon) = state else { return nil }
            state = .stopped
            return daemon
        }
        guard let daemon else { return }
        MHD_quiesce_daemon(daemon.handle)
        // The library has let go of the socket; from here on connections are refused instead of queued.
        shutdown(daemon.listener.number, Int32(SHUT_RDWR))
        await core.finish()
        // Joins the library's thread.
        try? await Threads.run(name: "http-stop") { MHD_stop_daemon(daemon.handle) }
        Unmanaged.passUnretained(core).release()
    }

    private func startLibrary(listener: FileDescriptor) -> OpaquePointer? {
        let limits = core.limits
        let context = Unmanaged.passRetained(core).toOpaque()
        let options = [
            MHD_OptionItem(option: MHD_OPTION.LISTEN_SOCKET, value: Int(listener.number), ptr_value: nil),
            MHD_OptionItem(option: MHD_OPTION.CONNECTION_LIMIT, value: limits.maxConnections, ptr_value: nil),
            MHD_OptionItem(
                option: MHD_OPTION.CONNECTION_TIMEOUT,
                value: max(1, Int(limits.idleTimeout / .seconds(1))),
                ptr_value: nil
            ),
            MHD_OptionItem(
                option: MHD_OPTION.CONNECTION_MEMORY_LIMIT,
                value: 2 * max(limits.maxHeaderBytes, 4096),
                ptr_value: nil
            ),
            MHD_OptionItem(
                option: MHD_OPTION.NOTIFY_COMPLETED,
                value: Int(bitPattern: unsafeBitCast(requestCompleted, to: UnsafeRawPointer.self)),
                ptr_value: nil
            ),
            MHD_OptionItem(
                option: MHD_OPTION.UNESCAPE_CALLBACK,
                value: Int(bitPattern: unsafeBitCast(leaveEscaped, to: UnsafeRawPointer.self)),
                ptr_value: nil
            ),
            MHD_OptionItem(option: MHD_OPTION.STRICT_FOR_CLIENT, value: 1, ptr_value: nil),
            MHD_OptionItem(option: MHD_OPTION.END, value: 0, ptr_value: nil),
        ]
        let flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_SUSPEND_RESUME.rawValue
        let handle = options.withUnsafeBufferPointer { options in
            options.baseAddress.flatMap { options in
                withVaList([MHD_OPTION.ARRAY.rawValue, options, MHD_OPTION.END.rawValue]) {
                    MHD_start_daemon_va(flags, 0, nil, nil, handleAccess, context, $0)
                }
            }
        }
        if handle == nil { Unmanaged<HTTPServerCore>.fromOpaque(context).release() }
        return handle
    }

    private static func listen(
        address: String,
        port: UInt16
    ) throws(HTTPServerError) -> (listener: FileDescriptor, port: UInt16) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, String(port), &hints, &list) == 0, let entry = list?.pointee else {
            throw .addressMalformed(address)
        }
        defer { freeaddrinfo(list) }
        func unavailable(_ operation: String) -> HTTPServerError {
            .portUnavailable(address: address, port: port, SystemError(operation: operation))
        }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(entry.ai_family, type, 0)
        guard number >= 0 else { throw unavailable("make a socket") }
        let listener = FileDescriptor(adopting: number)
        var reuse: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        guard bind(number, entry.ai_addr, entry.ai_addrlen) == 0 else { throw unavailable("bind") }
        guard Foundation.listen(number, 512) == 0 else { throw unavailable("listen") }
        var bound = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &size) }
        }
        guard result == 0 else { throw unavailable("look at the socket") }
        // Both families keep the port at the same place, in network order.
        let boundPort = withUnsafeBytes(of: &bound) { UInt16($0[2]) << 8 | UInt16($0[3]) }
        return (listener, boundPort)
    }
}

// MARK: The library's callbacks, on its thread

private let handleAccess: MHD_AccessHandlerCallback = { context, handle, path, method, _, bytes, size, slot in
    guard let context, let handle, let path, let method, let size, let slot else { return MHD_Result.NO }
    guard let known = slot.pointee else {
        let exchange = HTTPExchange(
            connection: MHDConnection(handle),
            method: String(cString: method),
            path: String(validatingCString: path),
            core: Unmanaged<HTTPServerCore>.fromOpaque(context).takeUnretainedValue()
        )
        // Released when the request has completed.
        slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        return exchange.begin()
    }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
    guard size.pointee > 0 else { return exchange.proceed() }
    let part = UnsafeRawBufferPointer(start: bytes, count: size.pointee)
    size.pointee = 0
    return exchange.receive(part)
}

private let requestCompleted:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        MHD_RequestTerminationCode
    ) -> Void = { _, _, slot, _ in
        guard let slot, let known = slot.pointee else { return }
        slot.pointee = nil
        let exchange = Unmanaged<HTTPExchange>.fromOpaque(known).takeRetainedValue()
        exchange.completed()
    }

/// Paths and queries are decoded by `PercentDecoding`, which tells an encoded slash from a real one.
private let leaveEscaped:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?
    ) -> Int = { _, _, text in
        text.map { strlen($0) } ?? 0
    }
