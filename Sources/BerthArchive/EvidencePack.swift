import BerthCore

/// The small blobs of one attempt's evidence as one file: a line of JSON that names them with their lengths, then their
/// bytes in that order.
package struct EvidencePack: Sendable, Equatable {
    /// The first line.
    package struct Head: Sendable, Hashable, Codable {
        /// 1
        package let format: Int
        /// In the order of their bytes.
        package let blobs: [BlobReference]

        init(blobs: [BlobReference]) {
            format = 1
            self.blobs = blobs
        }

        /// Reads the line, without its end.
        /// - Throws: `FormatError`
        package static func parse(_ bytes: some Sequence<UInt8>, document: String) throws(FormatError) -> Head {
            let head = try CanonicalJSON.decode(Head.self, from: bytes, document: document)
            guard head.format == 1 else {
                throw FormatError(
                    document: document,
                    place: "format",
                    problem: "\(head.format) is not known here; 1 is"
                )
            }
            return head
        }
    }

    /// Longest first line that is read, in bytes.
    static let headLimit = 8 << 20

    /// The blobs by their digests, which whoever makes a pack has compared with the bytes.
    package let blobs: [Digest: [UInt8]]

    package init(blobs: [Digest: [UInt8]]) {
        self.blobs = blobs
    }

    /// The file's content.
    /// - Throws: `EncodingError`
    package var bytes: [UInt8] {
        get throws {
            let ordered = blobs.sorted { $0.key < $1.key }
            let head = Head(blobs: ordered.map { BlobReference(digest: $0.key, size: Int64($0.value.count)) })
            var bytes = try CanonicalJSON.encode(head)
            bytes.reserveCapacity(bytes.count + 1 + ordered.reduce(0) { $0 + $1.value.count })
            bytes.append(UInt8(ascii: "\n"))
            for (_, blob) in ordered { bytes += blob }
            return bytes
        }
    }
}
