/// Random access to the bytes of a file, wherever they lie; nothing outside of it is ever asked for.
package struct ByteSource: Sendable {
    /// Length in bytes.
    package let size: UInt64
    private let fetch: @Sendable (_ offset: UInt64, _ count: Int) throws -> [UInt8]

    /// A source that asks `read` for each part; `read` may give fewer bytes only when the file became shorter.
    package init(size: UInt64, read: @escaping @Sendable (_ offset: UInt64, _ count: Int) throws -> [UInt8]) {
        self.size = size
        fetch = read
    }

    /// A source of bytes that are there already.
    package init(_ bytes: [UInt8]) {
        self.init(size: UInt64(bytes.count)) { offset, count in
            let start = Int(offset)
            return Array(bytes[start..<(start + count)])
        }
    }

    /// Reads a part of the file; `name` says what it is in an error.
    /// - Throws: `CodeSignatureError.malformed` when the part reaches beyond the end; whatever the file's reading throws
    package func part(_ name: String, at offset: UInt64, count: UInt64) throws -> ByteWindow {
        guard offset <= size, count <= size - offset, let length = Int(exactly: count) else {
            throw CodeSignatureError.malformed(
                offset: offset,
                problem: "\(name) of \(count) bytes reaches beyond the file's end at \(size)"
            )
        }
        let bytes = length == 0 ? [] : try fetch(offset, length)
        guard bytes.count == length else {
            throw CodeSignatureError.malformed(offset: offset, problem: "\(name) cannot be read to its end")
        }
        return ByteWindow(bytes: bytes, origin: offset)
    }
}
