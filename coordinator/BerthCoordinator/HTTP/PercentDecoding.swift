/// Decoding of percent-encoded text.
enum PercentDecoding {
    /// The decoded text; nil for a broken escape, a zero byte or bytes that are not UTF-8.
    static func decode(_ text: some StringProtocol, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(UInt8(ascii: " "))
            default:
                bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The decoded parts of a path; nil if one cannot be decoded or would step out of its place.
    static func segments(of path: String) -> [String]? {
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let segment = decode(part, plusIsSpace: false), segment != ".", segment != ".." else { return nil }
            segments.append(segment)
        }
        return segments
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
