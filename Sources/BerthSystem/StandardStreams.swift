import Foundation

/// Unbuffered output, so that nothing is lost when a process is killed.
package enum StandardStreams {
    /// Writes to standard output; answers whether all of it was taken.
    @discardableResult
    package static func writeOutput(_ text: String) -> Bool { write(text, to: 1) }

    /// Writes to standard error; a closed stream is ignored, there is nowhere to say so.
    package static func writeError(_ text: String) { write(text, to: 2) }

    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let count = Foundation.write(
                    descriptor,
                    buffer.baseAddress?.advanced(by: written),
                    buffer.count - written
                )
                if count < 0 {
                    if errno == EINTR { continue }
                    if errno == EAGAIN {
                        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                        poll(&waiting, 1, 1000)
                        continue
                    }
                    return false
                }
                written += count
            }
            return true
        }
    }
}
