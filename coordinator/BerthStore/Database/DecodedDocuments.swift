import BerthCore

/// Documents that were decoded before, found by their text, so that what comes again and again is decoded once.
///
/// Belongs to one connection, and is used by its thread only.
final class DecodedDocuments {
    /// More documents than this of one type are forgotten together.
    private static let limit = 1_000

    private var known: [ObjectIdentifier: [String: any Sendable]] = [:]
    private var works: [Int64: PinnedWork] = [:]

    /// The document of a text that was stored with `DatabaseValue.json`; `name` says which in errors.
    /// - Throws: `FormatError`
    func decode<Document: Decodable & Sendable>(
        _ type: Document.Type,
        from text: String,
        name: String
    ) throws -> Document {
        let key = ObjectIdentifier(type)
        if let document = known[key]?[text] as? Document { return document }
        let document = try CanonicalJSON.decode(type, from: text.utf8, document: name)
        if known[key, default: [:]].count >= Self.limit { known[key] = nil }
        known[key, default: [:]][text] = document
        return document
    }

    /// What was kept for the pins of a number.
    func work(of pins: Int64) -> PinnedWork? { works[pins] }

    /// Keeps what the pins of a number stand for, as long as the transaction lasts or if it is committed.
    func keep(_ work: PinnedWork, of pins: Int64) {
        if works.count >= Self.limit { works = [:] }
        works[pins] = work
    }

    /// Forgets what was found by number: a transaction was undone, and the numbers that it gave are given again.
    func forgetNumbers() { works = [:] }
}
