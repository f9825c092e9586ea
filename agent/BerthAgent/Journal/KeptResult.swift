import BerthArchive
import BerthCore
import BerthSystem

/// A signed report with the blobs of its evidence, as one record of a file: a line of JSON that says how long each part is
/// and what its digest is, then the report, then the blobs.
package struct KeptResult: Sendable, Equatable {
    package let report: AttemptReport
    /// The report's canonical form.
    package let text: [UInt8]
    /// The evidence files and their manifest.
    package let blobs: [Digest: [UInt8]]

    private struct Head: Codable {
        /// 2
        let format: Int
        let attempt: AttemptReference
        let report: BlobReference
        let blobs: [BlobReference]
    }

    /// What a record says of itself before it is read.
    struct Outline {
        let attempt: AttemptReference
        /// Where the record lies, its first line among it.
        let range: Range<Int>
        /// The parts, in their order.
        fileprivate let parts: [(reference: BlobReference, range: Range<Int>)]
    }

    /// Longest first line, in bytes: for more files of evidence than fit into it.
    private static let headLimit = 16 << 20

    /// - Throws: `EncodingError`
    package init(report: AttemptReport, blobs: [Digest: [UInt8]]) throws {
        self.init(report: report, text: try CanonicalJSON.encode(report), blobs: blobs)
    }

    /// - Parameters:
    ///   - report: says how the attempt ended.
    ///   - text: the report's canonical form.
    ///   - blobs: the evidence files and their manifest.
    init(report: AttemptReport, text: [UInt8], blobs: [Digest: [UInt8]]) {
        self.report = report
        self.text = text
        self.blobs = blobs
    }

    /// The attempt that it is the result of.
    package var attempt: AttemptReference { AttemptReference(attempt: report.attempt, epoch: report.epoch) }

    /// - Throws: `EncodingError`
    package var bytes: [UInt8] {
        get throws {
            let ordered = blobs.sorted { $0.key < $1.key }
            let head = Head(
                format: 2,
                attempt: attempt,
                report: BlobReference(digest: .sha256(of: text), size: Int64(text.count)),
                blobs: ordered.map { BlobReference(digest: $0.key, size: Int64($0.value.count)) }
            )
            var bytes = try CheckedLine.bytes(head)
            bytes.reserveCapacity(bytes.count + 1 + text.count + ordered.reduce(0) { $0 + $1.value.count })
            bytes.append(UInt8(ascii: "\n"))
            bytes += text
            for (_, blob) in ordered { bytes += blob }
            return bytes
        }
    }

    /// Reads a record.
    /// - Throws: `FormatError` when it is not what it says of itself
    package init(_ bytes: [UInt8], document: String) throws(FormatError) {
        guard let outline = try Self.outline(bytes, at: 0, document: document) else {
            throw FormatError(document: document, problem: "it ends early")
        }
        if let damage = Self.damage(bytes, outline) { throw FormatError(document: document, problem: damage) }
        text = Array(bytes[outline.parts[0].range])
        report = try CanonicalJSON.decode(AttemptReport.self, from: text, document: document)
        blobs = Dictionary(
            outline.parts.dropFirst().map { ($0.reference.digest, Array(bytes[$0.range])) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Where the record that begins at a place has its parts; nil when the bytes end before it does.
    /// - Throws: `FormatError` when no record begins there
    static func outline(_ bytes: [UInt8], at start: Int, document: String) throws(FormatError) -> Outline? {
        guard let end = bytes[start...].prefix(headLimit).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = try CanonicalJSON.decode(CheckedLine<Head>.self, from: bytes[start..<end], document: document)
        let head = line.body
        // Else a damaged length would look like an end that came too early.
        guard (try? line.isRight) == true else {
            throw FormatError(document: document, problem: "a record's first line is not what its digest says")
        }
        guard head.format == 2 else {
            throw FormatError(document: document, place: "format", problem: "\(head.format) is not known here; 2 is")
        }
        var place = end + 1
        var parts: [(reference: BlobReference, range: Range<Int>)] = []
        for part in [head.report] + head.blobs {
            guard part.size >= 0 else { throw FormatError(document: document, problem: "a length is below 0") }
            guard part.size <= bytes.count - place else { return nil }
            parts.append((part, place..<(place + Int(part.size))))
            place += Int(part.size)
        }
        return Outline(attempt: head.attempt, range: start..<place, parts: parts)
    }

    /// What is wrong with the content of a record's parts, or nil.
    static func damage(_ bytes: [UInt8], _ outline: Outline) -> String? {
        for (reference, range) in outline.parts where Digest.sha256(of: bytes[range]) != reference.digest {
            return "a part of the record of \(outline.attempt.attempt) is not what its digest says"
        }
        return nil
    }
}
