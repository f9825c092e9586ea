import Synchronization

/// The answer to an opening connection, given once: the host's key or what went wrong.
final class OpenResult: Sendable {
    private let continuation: Mutex<CheckedContinuation<Result<HostKey, SSHError>, Never>?>

    init(_ continuation: CheckedContinuation<Result<HostKey, SSHError>, Never>) {
        self.continuation = Mutex(continuation)
    }

    /// Answers; only the first answer counts.
    func give(_ result: Result<HostKey, SSHError>) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: result)
    }
}
