import BerthCore

/// Documents that were decoded before, found by their text, so that what comes again and again is decoded once.
///
/// Belongs to one connection, and is used by its thread only.
final class DecodedDocuments {
    /// More documents than this of one type are forgotten together.
    private static let limit = 1_000

    private var known: [ObjectIdentifier: [String: any Sendable]] = [:]

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
}
