import CBerthSystem
import Foundation

/// A failed system call: what was tried, on which path, and the errno value.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    /// The action in words, such as `open` or `rename`.
    package let operation: String
    /// The file concerned, if any.
    package let path: String?
    /// The errno value.
    package let code: Int32

    package init(operation: String, path: String? = nil, code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    package var description: String {
        let place = path.map { " \($0)" } ?? ""
        return "cannot \(operation)\(place): \(String(cString: strerror(code))) (errno \(code))"
    }

    /// Whether the disk or the quota is exhausted.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
}

/// Runs a C call that answers -1 with errno, again after a signal.
@discardableResult
package func retryingInterrupts<Result: BinaryInteger>(
    _ operation: String,
    _ path: String? = nil,
    _ call: () -> Result
) throws -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        if errno != EINTR { throw SystemError(operation: operation, path: path, code: errno) }
    }
}
