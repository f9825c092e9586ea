extension Decoder {
    /// Refuses keys that the format does not know, where a misspelt key would change the meaning.
    func refuseUnknownKeys(besides known: [String]) throws {
        let container = try container(keyedBy: AnyKey.self)
        for key in container.allKeys where !known.contains(key.stringValue) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath + [key],
                    debugDescription: "the key is not known; there are \(known.joined(separator: ", "))"
                )
            )
        }
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        return nil
    }
}
