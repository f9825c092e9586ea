import BerthCore
import SQLiteDatabase

extension DatabaseValue {
    /// A document in its canonical form, as text.
    static func json(_ value: some Encodable) throws -> DatabaseValue {
        .text(String(decoding: try CanonicalJSON.encode(value), as: UTF8.self))
    }
}

extension DatabaseRow {
    /// A document that was stored with `DatabaseValue.json`.
    /// - Throws: `FormatError`, `DatabaseError`
    func json<Value: Decodable>(_ type: Value.Type, _ column: String) throws -> Value {
        try CanonicalJSON.decode(type, from: text(column).utf8, document: "stored \(column)")
    }

    /// The same for documents of which there are few, each read often.
    func json<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ column: String,
        _ documents: DecodedDocuments
    ) throws -> Value {
        try documents.decode(type, from: text(column), name: "stored \(column)")
    }

    /// The same for a column that may be empty.
    func optionalJSON<Value: Decodable>(_ type: Value.Type, _ column: String) throws -> Value? {
        try optionalText(column) == nil ? nil : json(type, column)
    }

    /// A digest that was stored as its digits.
    func digest(_ column: String) throws -> Digest {
        let hex = try text(column)
        guard let digest = Digest("sha256:\(hex)") else {
            throw FormatError(document: "stored \(column)", problem: "\(hex.debugDescription) is no digest")
        }
        return digest
    }

    /// A word of a closed set.
    func word<Word: RawRepresentable<String>>(_ type: Word.Type, _ column: String) throws -> Word {
        let text = try text(column)
        guard let word = Word(rawValue: text) else {
            throw FormatError(document: "stored \(column)", problem: "\(text.debugDescription) is not known here")
        }
        return word
    }

    /// The same for a column that may be empty.
    func optionalWord<Word: RawRepresentable<String>>(_ type: Word.Type, _ column: String) throws -> Word? {
        try optionalText(column) == nil ? nil : word(type, column)
    }
}
