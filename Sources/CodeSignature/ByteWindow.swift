/// A part of a file in memory that knows where in the file it lies. Every access is checked.
package struct ByteWindow: Sendable {
    package let bytes: [UInt8]
    /// Offset of the first byte in the file.
    package let origin: UInt64

    package init(bytes: [UInt8], origin: UInt64) {
        self.bytes = bytes
        self.origin = origin
    }

    /// A number in the byte order of the machines that Mach-O files are for.
    func little<Number: FixedWidthInteger>(_ type: Number.Type, at place: Int, _ name: String) throws -> Number {
        Number(littleEndian: try load(type, at: place, name))
    }

    /// A number in network byte order, as in universal headers and signatures.
    func big<Number: FixedWidthInteger>(_ type: Number.Type, at place: Int, _ name: String) throws -> Number {
        Number(bigEndian: try load(type, at: place, name))
    }

    private func load<Number: FixedWidthInteger>(_ type: Number.Type, at place: Int, _ name: String) throws -> Number {
        let width = MemoryLayout<Number>.size
        guard place >= 0, place <= bytes.count, bytes.count - place >= width else { throw cut(place, name) }
        return bytes[place..<(place + width)].withUnsafeBytes { $0.loadUnaligned(as: type) }
    }

    /// Bytes within the window.
    func slice(at place: Int, count: Int, _ name: String) throws -> ByteWindow {
        guard place >= 0, count >= 0, place <= bytes.count, bytes.count - place >= count else { throw cut(place, name) }
        return ByteWindow(bytes: Array(bytes[place..<(place + count)]), origin: origin + UInt64(place))
    }

    /// A text in a field of fixed length, padded with zeros.
    func text(at place: Int, width: Int, _ name: String) throws -> String {
        let field = try slice(at: place, count: width, name).bytes.prefix { $0 != 0 }
        return String(decoding: field, as: UTF8.self)
    }

    /// A text that a zero ends, at most `limit` bytes long.
    func terminatedText(at place: Int, limit: Int, _ name: String) throws -> String {
        guard place >= 0, place < bytes.count else { throw cut(place, name) }
        let field = bytes[place...].prefix(limit + 1)
        guard let end = field.firstIndex(of: 0) else {
            throw malformed(place, "\(name) has no end within \(limit) bytes")
        }
        guard let text = String(validating: field[..<end], as: UTF8.self) else {
            throw malformed(place, "\(name) is no UTF-8 text")
        }
        return text
    }

    /// An error that names a place of this window, or its end for one beyond it, by the offset in the file.
    func malformed(_ place: Int, _ problem: String) -> CodeSignatureError {
        .malformed(offset: origin + UInt64(min(max(place, 0), bytes.count)), problem: problem)
    }

    private func cut(_ place: Int, _ name: String) -> CodeSignatureError {
        malformed(place, "\(name) reaches beyond the end of the part that holds it, at \(origin + UInt64(bytes.count))")
    }
}
