/// Searches a stream of bytes for the canary in all its forms and masks what it finds: as many asterisks as bytes.
/// Pieces may be cut anywhere. A value: feed it, take what comes out, finish it.
package struct CanarySearch: Sendable {
    private let forms: [EncodedForm]
    private let longest: Int
    /// Bytes with which no form begins are passed over quickly.
    private let beginnings: [Bool]
    private var held: [UInt8] = []
    /// The forms in which the canary was found so far.
    package private(set) var found: Set<String> = []

    package init(_ canary: Canary) {
        let forms = EncodedForm.all(of: canary.bytes)
        self.forms = forms
        longest = forms.map(\.longest).max() ?? 0
        var beginnings = [Bool](repeating: false, count: 256)
        for form in forms { for byte in form.beginnings { beginnings[Int(byte)] = true } }
        self.beginnings = beginnings
    }

    /// Takes the next bytes.
    /// - Returns: what can be stored; up to the longest form's length is held back until more is known.
    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        held += bytes
        return release(until: held.count - longest + 1)
    }

    /// The stream has ended.
    /// - Returns: the rest.
    package mutating func finish() -> [UInt8] {
        release(until: held.count)
    }

    /// Masks whole bytes at once.
    package static func mask(_ bytes: [UInt8], _ canary: Canary) -> (bytes: [UInt8], found: Set<String>) {
        var search = CanarySearch(canary)
        let masked = search.feed(bytes) + search.finish()
        return (masked, search.found)
    }

    /// Judges every place before `limit` as the start of an occurrence, and gives out what lies before the end.
    private mutating func release(until limit: Int) -> [UInt8] {
        guard limit > 0 else { return [] }
        var place = 0
        var masks: [Range<Int>] = []
        held.withUnsafeBufferPointer { bytes in
            while place < limit {
                guard beginnings[Int(bytes[place])] else {
                    place += 1
                    continue
                }
                var end = place
                for form in forms {
                    if let found = form.end(in: bytes, from: place), found > end {
                        end = found
                        self.found.insert(form.name)
                    }
                }
                if end > place { masks.append(place..<end) }
                place = max(end, place + 1)
            }
        }
        for mask in masks {
            for index in mask { held[index] = UInt8(ascii: "*") }
        }
        defer { held.removeFirst(min(place, held.count)) }
        return Array(held.prefix(place))
    }
}
