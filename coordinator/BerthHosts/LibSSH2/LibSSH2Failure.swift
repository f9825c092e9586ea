import CSSH2

/// What libssh2 reports, with the system's error number when a system call was the cause (else 0).
struct LibSSH2Failure: Error {
    /// What callers distinguish.
    enum Kind {
        /// libssh2 holds another packet that is partly sent.
        case misuse
        /// The socket failed or was closed.
        case connectionEnded
        case noCommonMethod
        case authenticationRefused
        case keyUnusable
        case channelRefused
        case other
    }

    let code: Int32
    let message: String
    let systemCode: Int32

    var kind: Kind {
        switch code {
        case LIBSSH2_ERROR_BAD_USE: .misuse
        case LIBSSH2_ERROR_SOCKET_DISCONNECT, LIBSSH2_ERROR_SOCKET_RECV, LIBSSH2_ERROR_SOCKET_SEND,
            LIBSSH2_ERROR_SOCKET_NONE, LIBSSH2_ERROR_BANNER_RECV, LIBSSH2_ERROR_BANNER_SEND:
            .connectionEnded
        case LIBSSH2_ERROR_KEX_FAILURE, LIBSSH2_ERROR_METHOD_NONE, LIBSSH2_ERROR_METHOD_NOT_SUPPORTED: .noCommonMethod
        case LIBSSH2_ERROR_AUTHENTICATION_FAILED, LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED: .authenticationRefused
        case LIBSSH2_ERROR_FILE, LIBSSH2_ERROR_KEYFILE_AUTH_FAILED: .keyUnusable
        case LIBSSH2_ERROR_CHANNEL_FAILURE, LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED: .channelRefused
        default: .other
        }
    }
}
