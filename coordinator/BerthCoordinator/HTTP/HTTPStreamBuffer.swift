/// What a streamed answer has produced and the client has not taken. A value without locks.
struct HTTPStreamBuffer {
    /// Above this many bytes the producer waits.
    private static let bound = 256 << 10

    private var chunks: [[UInt8]] = []
    private var head = 0
    private var taken = 0
    private var count = 0
    private(set) var hasEnded = false

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= Self.bound }

    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, !hasEnded else { return }
        chunks.append(bytes)
        count += bytes.count
    }

    mutating func end() {
        hasEnded = true
    }

    /// Takes out the next bytes, `limit` at most.
    mutating func take(upTo limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(limit, count))
        while bytes.count < limit, head < chunks.count {
            let amount = min(chunks[head].count - taken, limit - bytes.count)
            bytes += chunks[head][taken..<taken + amount]
            taken += amount
            if taken == chunks[head].count {
                taken = 0
                chunks[head] = []
                head += 1
            }
        }
        if head == chunks.count || head >= 64 {
            chunks.removeFirst(head)
            head = 0
        }
        count -= bytes.count
        return bytes
    }
}
