import Foundation

/// The one byte form of a document that is hashed or signed: sorted keys, no white space, slashes not escaped,
/// absent values left out.
package enum CanonicalJSON {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    private static let decoder = JSONDecoder()

    /// - Throws: `EncodingError` when a value cannot be written as JSON.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        [UInt8](try encoder.encode(value))
    }

    /// Reads a document; what is wrong with it is told in words.
    /// - Throws: `FormatError`
    package static func decode<Value: Decodable>(
        _ type: Value.Type,
        from bytes: some Sequence<UInt8>,
        document: String
    ) throws(FormatError) -> Value {
        do {
            return try decoder.decode(type, from: Data(bytes))
        } catch {
            throw FormatError(document: document, error: error)
        }
    }
}
