import BerthSystem
import BerthTestSupport
import CSSH2
import Foundation

/// The least that a round trip through sshd costs: libssh2 with nothing around it, blocking, on one thread.
enum BareSSH {
    /// Round trips a second over a time, one message under way; and how long each took.
    static func measure(_ server: TestSSHServer, size: Int, for length: Duration) async throws -> (Double, Samples) {
        let (port, user, key) = (server.port, server.user, server.identityFile)
        return try await Threads.run(name: "bare libssh2") {
            let socket = try LoopbackSocket.connect(to: port)
            guard libssh2_init(0) == 0, let session = libssh2_session_init_ex(nil, nil, nil, nil) else {
                throw BenchFailure("libssh2 cannot be initialised")
            }
            defer { libssh2_session_free(session) }
            libssh2_session_set_blocking(session, 1)
            // What our own channels prefer, so that both sides do the same work.
            for (method, name) in [
                (LIBSSH2_METHOD_CRYPT_CS, "aes128-ctr"), (LIBSSH2_METHOD_CRYPT_SC, "aes128-ctr"),
                (LIBSSH2_METHOD_MAC_CS, "hmac-sha2-256"), (LIBSSH2_METHOD_MAC_SC, "hmac-sha2-256"),
            ] {
                libssh2_session_method_pref(session, method, name)
            }
            guard libssh2_session_handshake(session, socket.number) == 0,
                libssh2_userauth_publickey_fromfile_ex(
                    session,
                    user,
                    UInt32(user.utf8.count),
                    nil,
                    key,
                    nil
                ) == 0,
                let channel = libssh2_channel_open_ex(session, "session", 7, 2 << 20, 32_768, nil, 0),
                libssh2_channel_process_startup(channel, "exec", 4, "cat", 3) == 0
            else { throw BenchFailure("bare libssh2 cannot open a channel: \(libssh2_session_last_errno(session))") }
            defer { libssh2_channel_free(channel) }
            let message = [CChar](repeating: 7, count: size)
            var answer = [CChar](repeating: 0, count: size)
            var samples = Samples()
            var trips = 0
            let start = ContinuousClock.now
            while ContinuousClock.now - start < length {
                let began = ContinuousClock.now
                guard libssh2_channel_write_ex(channel, 0, message, size) == size else {
                    throw BenchFailure("bare libssh2 could not send")
                }
                var received = 0
                while received < size {
                    let count = libssh2_channel_read_ex(channel, 0, &answer, size - received)
                    guard count > 0 else { throw BenchFailure("bare libssh2 received \(count)") }
                    received += count
                }
                samples.add(ContinuousClock.now - began)
                trips += 1
            }
            return (Double(trips) / (ContinuousClock.now - start).inSeconds, samples)
        }
    }
}
