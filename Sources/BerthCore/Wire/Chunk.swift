/// Part of a blob: the payload of a chunk frame.
package struct Chunk: Sendable, Hashable {
    package let digest: Digest
    /// Where in the blob the bytes belong.
    package let offset: UInt64
    package let bytes: [UInt8]

    package init(digest: Digest, offset: UInt64, bytes: [UInt8]) {
        self.digest = digest
        self.offset = offset
        self.bytes = bytes
    }

    /// 32 bytes digest, 8 bytes offset (big-endian), then the bytes.
    package var payload: [UInt8] {
        digest.bytes + (0..<8).map { UInt8(truncatingIfNeeded: offset >> (56 - 8 * UInt64($0))) } + bytes
    }

    /// Nil when the payload is shorter than its header.
    package init?(payload: [UInt8]) {
        guard payload.count >= 40 else { return nil }
        digest = Digest(bytes: Array(payload.prefix(32)))
        offset = payload[32..<40].reduce(0) { $0 << 8 | UInt64($1) }
        bytes = Array(payload.dropFirst(40))
    }
}
