import SQLiteDatabase

/// One value on its way to the server: numbers and text in text form, whose type the server infers from their place,
/// bytes as they are.
struct PostgresParameter {
    /// Ends with a zero byte, which text form needs.
    let bytes: [UInt8]?
    let length: Int32
    let isBinary: Bool

    init(_ value: DatabaseValue) {
        switch value {
        case .null: self.init(bytes: nil, isBinary: false)
        case .integer(let integer): self.init(bytes: Array("\(integer)".utf8), isBinary: false)
        case .real(let real): self.init(bytes: Array("\(real)".utf8), isBinary: false)
        case .text(let text): self.init(bytes: Array(text.utf8), isBinary: false)
        case .blob(let bytes): self.init(bytes: bytes, isBinary: true)
        }
    }

    private init(bytes: [UInt8]?, isBinary: Bool) {
        self.bytes = bytes.map { $0 + [0] }
        length = Int32(bytes?.count ?? 0)
        self.isBinary = isBinary
    }

    /// The three arrays that libpq takes.
    static func withPointers<Result>(
        _ parameters: [PostgresParameter],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        let lengths = parameters.map(\.length)
        let formats = parameters.map { $0.isBinary ? Int32(1) : 0 }
        // One buffer for all, so that every address is good at once.
        let all = parameters.flatMap { $0.bytes ?? [] }
        return all.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                var start = 0
                let values = parameters.map { parameter -> UnsafePointer<CChar>? in
                    guard let bytes = parameter.bytes, let base = characters.baseAddress else { return nil }
                    defer { start += bytes.count }
                    return base + start
                }
                return values.withUnsafeBufferPointer { values in
                    lengths.withUnsafeBufferPointer { lengths in
                        formats.withUnsafeBufferPointer { formats in
                            body(values.baseAddress, lengths.baseAddress, formats.baseAddress)
                        }
                    }
                }
            }
        }
    }
}
