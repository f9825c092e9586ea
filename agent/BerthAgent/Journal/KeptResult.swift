import BerthCore

/// A signed report with the blobs of its evidence, as one file: a line of JSON that says how long each part is, then the
/// report, then the blobs.
package struct KeptResult: Sendable, Equatable {
    package let report: AttemptReport
    /// The evidence files and their manifest.
    package let blobs: [Digest: [UInt8]]

    private struct Head: Codable {
        /// 1
        let format: Int
        /// Length of the report in bytes.
        let report: Int
        let blobs: [BlobReference]
    }

    package init(report: AttemptReport, blobs: [Digest: [UInt8]]) {
        self.report = report
        self.blobs = blobs
    }

    /// - Throws: `EncodingError`
    package var bytes: [UInt8] {
        get throws {
            let ordered = blobs.sorted { $0.key < $1.key }
            let text = try CanonicalJSON.encode(report)
            let head = Head(
                format: 1,
                report: text.count,
                blobs: ordered.map { BlobReference(digest: $0.key, size: Int64($0.value.count)) }
            )
            var bytes = try CanonicalJSON.encode(head)
            bytes.reserveCapacity(bytes.count + 1 + text.count + ordered.reduce(0) { $0 + $1.value.count })
            bytes.append(UInt8(ascii: "\n"))
            bytes += text
            for (_, blob) in ordered { bytes += blob }
            return bytes
        }
    }

    /// Reads the file's content. Whether blobs are what their digests say is checked by whoever receives them.
    /// - Throws: `FormatError`
    package init(_ bytes: [UInt8], document: String) throws(FormatError) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            throw FormatError(document: document, problem: "it has no first line")
        }
        let head = try CanonicalJSON.decode(Head.self, from: bytes[..<end], document: document)
        guard head.format == 1 else {
            throw FormatError(document: document, place: "format", problem: "\(head.format) is not known here; 1 is")
        }
        var rest = bytes[(end + 1)...]
        func take(_ count: Int64) throws(FormatError) -> [UInt8] {
            guard count >= 0, count <= rest.count else {
                throw FormatError(document: document, problem: "it ends \(count - Int64(rest.count)) bytes early")
            }
            defer { rest = rest.dropFirst(Int(count)) }
            return Array(rest.prefix(Int(count)))
        }
        report = try CanonicalJSON.decode(AttemptReport.self, from: try take(Int64(head.report)), document: document)
        var blobs: [Digest: [UInt8]] = [:]
        for blob in head.blobs { blobs[blob.digest] = try take(blob.size) }
        self.blobs = blobs
    }
}
