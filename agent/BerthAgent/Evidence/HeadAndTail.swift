/// Keeps the beginning and the end of a stream within a limit and says what was left out.
package struct HeadAndTail: Sendable {
    private let half: Int
    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    private var dropped = 0

    /// - Parameter limit: bytes that are kept.
    package init(limit: Int) {
        half = max(limit / 2, 1)
    }

    package mutating func add(_ bytes: some Collection<UInt8>) {
        let room = min(half - head.count, bytes.count)
        head += bytes.prefix(room)
        tail += bytes.dropFirst(room)
        if tail.count > 2 * half { cut() }
    }

    /// What is kept, with a line in between where something is missing.
    package mutating func finish() -> [UInt8] {
        cut()
        guard dropped > 0 else { return head + tail }
        return head + Array("\n[\(dropped) bytes are left out here]\n".utf8) + tail
    }

    private mutating func cut() {
        let excess = tail.count - half
        guard excess > 0 else { return }
        tail.removeFirst(excess)
        dropped += excess
    }
}
