import CSSH2
import Foundation

/// One libssh2 session with at most one channel, non-blocking; the only type that calls the C library.
///
/// It belongs to the thread of one event loop. Every operation returns `.blocked` until it is complete, and then has
/// to be called again with the same arguments. While `blocksOutbound` is true no other operation may be called:
/// libssh2 holds a packet that is partly sent and takes any other as misuse. `SSHConnection` keeps that rule.
final class LibSSH2Session {
    enum Progress<Value> {
        case done(Value)
        case blocked
    }

    typealias Failure = LibSSH2Failure

    enum Stream: Int32 {
        case output = 0
        case errorOutput = 1
    }

    /// The library's global set-up, done once; its result is 0 or an error.
    private static let libraryState = libssh2_init(0)

    /// The first window and the size to which it grows again: bounds what the peer sends ahead.
    private static let windowSize: UInt32 = 2 << 20

    private let session: OpaquePointer
    private var channel: OpaquePointer?
    private var isFree = false

    init() throws(Failure) {
        guard Self.libraryState == 0 else {
            throw Failure(code: Self.libraryState, message: "the library cannot be initialised", systemCode: 0)
        }
        guard let session = libssh2_session_init_ex(nil, nil, nil, nil) else {
            throw Failure(code: LIBSSH2_ERROR_ALLOC, message: "no memory for a session", systemCode: 0)
        }
        self.session = session
        libssh2_session_set_blocking(session, 0)
    }

    /// Whether a packet is partly sent: only the call that sent it may follow.
    var blocksOutbound: Bool { libssh2_session_block_directions(session) & LIBSSH2_SESSION_BLOCK_OUTBOUND != 0 }

    var blocksInbound: Bool { libssh2_session_block_directions(session) & LIBSSH2_SESSION_BLOCK_INBOUND != 0 }

    // MARK: Opening

    /// Restricts what is negotiated: these host key types, and of ciphers and digests what is neither broken nor slow.
    func setMethods(hostKeyAlgorithms: [String], compresses: Bool) throws(Failure) {
        if compresses {
            // Without the flag the library leaves compression out, whatever is preferred.
            guard libssh2_session_flag(session, LIBSSH2_FLAG_COMPRESS, 1) == 0 else { throw lastFailure() }
        }
        let compressions = (compresses ? [SSHMethods.compression] : []) + ["none"]
        let preferences: [(Int32, String)] = [
            (LIBSSH2_METHOD_HOSTKEY, hostKeyAlgorithms.joined(separator: ",")),
            (LIBSSH2_METHOD_KEX, SSHMethods.keyExchanges.joined(separator: ",")),
            (LIBSSH2_METHOD_CRYPT_CS, SSHMethods.ciphers.joined(separator: ",")),
            (LIBSSH2_METHOD_CRYPT_SC, SSHMethods.ciphers.joined(separator: ",")),
            (LIBSSH2_METHOD_MAC_CS, SSHMethods.macs.joined(separator: ",")),
            (LIBSSH2_METHOD_MAC_SC, SSHMethods.macs.joined(separator: ",")),
            (LIBSSH2_METHOD_COMP_CS, compressions.joined(separator: ",")),
            (LIBSSH2_METHOD_COMP_SC, compressions.joined(separator: ",")),
        ]
        for (method, names) in preferences {
            guard libssh2_session_method_pref(session, method, names) == 0 else { throw lastFailure() }
        }
    }

    func handshake(socket: Int32) throws(Failure) -> Progress<Void> {
        try step { libssh2_session_handshake(session, socket) }
    }

    /// The wire form of the key that the host proved to hold; nil before the handshake.
    var hostKeyBlob: [UInt8]? {
        var length = 0
        var type: Int32 = 0
        guard let bytes = libssh2_session_hostkey(session, &length, &type), length > 0 else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
    }

    func authenticate(user: StableBytes, key: StableBytes) throws(Failure) -> Progress<Void> {
        try step {
            libssh2_userauth_publickey_frommemory(
                session,
                user.pointer,
                user.count,
                nil,
                0,
                key.pointer,
                key.count,
                nil
            )
        }
    }

    /// Authenticates with a signature that somebody else makes; blocked until it is there.
    func authenticate(user: StableBytes, signer: AgentSigner) throws(Failure) -> Progress<Void> {
        var context: UnsafeMutableRawPointer? = Unmanaged.passUnretained(signer).toOpaque()
        return try withExtendedLifetime(signer) { () throws(Failure) in
            try step {
                libssh2_userauth_publickey(
                    session,
                    user.pointer,
                    signer.key.blob,
                    signer.key.blob.count,
                    Self.sign,
                    &context
                )
            }
        }
    }

    /// libssh2's callback: hands over the signature, in memory that the library frees.
    private static let sign:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, UnsafeMutablePointer<Int>?,
            UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> Int32 = { _, signature, length, data, count, context in
            guard let opaque = context?.pointee else { return LIBSSH2_ERROR_INVAL }
            let signer = Unmanaged<AgentSigner>.fromOpaque(opaque).takeUnretainedValue()
            switch signer.signature(of: Array(UnsafeBufferPointer(start: data, count: count))) {
            case nil: return LIBSSH2_ERROR_EAGAIN
            case .failure: return LIBSSH2_ERROR_AUTHENTICATION_FAILED
            case .success(let bytes):
                guard let copy = malloc(max(bytes.count, 1)) else { return LIBSSH2_ERROR_ALLOC }
                copy.copyMemory(from: bytes, byteCount: bytes.count)
                signature?.pointee = copy.assumingMemoryBound(to: UInt8.self)
                length?.pointee = bytes.count
                return 0
            }
        }

    func openChannel() throws(Failure) -> Progress<Void> {
        errno = 0
        channel = libssh2_channel_open_ex(
            session,
            "session",
            7,
            Self.windowSize,
            UInt32(LIBSSH2_CHANNEL_PACKET_DEFAULT),
            nil,
            0
        )
        if channel != nil { return .done(()) }
        if libssh2_session_last_errno(session) == LIBSSH2_ERROR_EAGAIN { return .blocked }
        throw lastFailure()
    }

    func startCommand(_ command: StableBytes) throws(Failure) -> Progress<Void> {
        try step {
            libssh2_channel_process_startup(channel, "exec", 4, command.pointer, UInt32(command.count))
        }
    }

    // MARK: Bytes

    /// Reads what has arrived into a buffer; 0 means that nothing came, not that the stream ended.
    func read(_ stream: Stream, into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Progress<Int> {
        errno = 0
        let count = libssh2_channel_read_ex(
            channel,
            stream.rawValue,
            buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
            buffer.count
        )
        if count >= 0 { return .done(count) }
        if count == Int(LIBSSH2_ERROR_EAGAIN) { return .blocked }
        throw lastFailure()
    }

    /// Sends a beginning of the buffer, as long as the peer's window allows, and returns its length.
    func write(_ buffer: UnsafeRawBufferPointer) throws(Failure) -> Progress<Int> {
        errno = 0
        let count = libssh2_channel_write_ex(
            channel,
            0,
            buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
            buffer.count
        )
        if count >= 0 { return .done(count) }
        if count == Int(LIBSSH2_ERROR_EAGAIN) { return .blocked }
        throw lastFailure()
    }

    /// Asks the peer for a sign of life: a channel request that every server has to answer, with yes or with no.
    ///
    /// The library's own keepalive serves less: the answers to its global request stay in the queue of received
    /// packets for ever, and that queue is searched with each read. This call takes its answer out.
    func probe() throws(Failure) -> Progress<Void> {
        errno = 0
        switch libssh2_channel_setenv_ex(channel, "BERTH_PROBE", 11, "", 0) {
        // Without an answer the library gives up after a minute; the next call asks anew.
        case LIBSSH2_ERROR_EAGAIN, LIBSSH2_ERROR_TIMEOUT: return .blocked
        // Refused is answered.
        case 0..., LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED: return .done(())
        default: throw lastFailure()
        }
    }

    /// Takes what has arrived from the socket into libssh2's own queue, which the window bounds.
    /// Blocked means that the socket is empty; done that the stream has ended.
    func takeIn() throws(Failure) -> Progress<Void> {
        try step { libssh2_channel_wait_eof(channel) }
    }

    func sendEndOfStream() throws(Failure) -> Progress<Void> {
        try step { libssh2_channel_send_eof(channel) }
    }

    /// After the end of the stream: waits for the peer's close, before which the exit status has come.
    func waitForClose() throws(Failure) -> Progress<Void> {
        try step { libssh2_channel_wait_closed(channel) }
    }

    /// Whether received output of the command waits in libssh2's queue.
    var hasOutput: Bool { libssh2_poll_channel_read(channel, 0) == 1 }

    /// Whether received error output waits in libssh2's queue; meaningful while `hasOutput` is false.
    var hasErrorOutput: Bool { libssh2_poll_channel_read(channel, 1) == 1 }

    /// Whether the stream has ended and everything of it has been read.
    var isAtEnd: Bool { libssh2_channel_eof(channel) == 1 }

    /// How many bytes the peer takes at present.
    var sendWindow: Int { Int(libssh2_channel_window_write_ex(channel, nil)) }

    /// How the command ended, after `waitForClose`.
    var exit: SSHChannelEnd.Exit {
        var name: UnsafeMutablePointer<CChar>?
        var length = 0
        libssh2_channel_get_exit_signal(channel, &name, &length, nil, nil, nil, nil)
        if let name, length > 0 {
            defer { libssh2_free(session, name) }
            return .signal(String(decoding: UnsafeRawBufferPointer(start: name, count: length), as: UTF8.self))
        }
        return .status(libssh2_channel_get_exit_status(channel))
    }

    // MARK: Ending

    /// Says good-bye if that can be done at once; only when nothing is partly sent.
    func disconnect() {
        libssh2_session_disconnect_ex(session, SSH_DISCONNECT_BY_APPLICATION, "", "")
    }

    /// Frees session and channel. Both directions of the socket must have been ended before, so that nothing blocks.
    /// - Returns: false if libssh2 still refused, in which case its memory is given up.
    func free() -> Bool {
        precondition(!isFree, "a session is freed once")
        isFree = true
        for _ in 0..<16 where libssh2_session_free(session) != LIBSSH2_ERROR_EAGAIN {
            return true
        }
        return false
    }

    deinit {
        precondition(isFree, "the connection frees its session")
    }

    private func step(_ call: () -> Int32) throws(Failure) -> Progress<Void> {
        errno = 0
        let code = call()
        if code >= 0 { return .done(()) }
        if code == LIBSSH2_ERROR_EAGAIN { return .blocked }
        throw lastFailure()
    }

    private func lastFailure() -> Failure {
        let systemCode = errno
        var text: UnsafeMutablePointer<CChar>?
        var length: Int32 = 0
        let code = libssh2_session_last_error(session, &text, &length, 0)
        let message = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(length))
        return Failure(code: code, message: String(decoding: message, as: UTF8.self), systemCode: systemCode)
    }
}
