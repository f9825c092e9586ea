extension KeyedDecodingContainer {
    /// One of a few words; another one is answered with those that there are.
    func word<Word>(_ type: Word.Type, among accepted: [Word]? = nil, forKey key: Key) throws -> Word
    where Word: RawRepresentable & CaseIterable & Equatable, Word.RawValue == String {
        let text = try decode(String.self, forKey: key)
        let words = accepted ?? Array(Word.allCases)
        guard let word = Word(rawValue: text), words.contains(word) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "\(text.debugDescription) is not known; there are "
                    + words.map(\.rawValue).joined(separator: ", ")
            )
        }
        return word
    }

    /// A number within limits.
    func number(forKey key: Key, in range: ClosedRange<Int>, default value: Int) throws -> Int {
        guard let number = try decodeIfPresent(Int.self, forKey: key) else { return value }
        guard range.contains(number) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "\(number) must lie between \(range.lowerBound) and \(range.upperBound)"
            )
        }
        return number
    }
}
