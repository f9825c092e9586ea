/// An executable as the loader sees it: one slice, or several in a universal file.
///
/// A reader for files of unknown origin: every offset and length is checked before it is used, all that is read is
/// bounded, and what contradicts the format is an error that names its offset.
package struct MachOFile: Sendable {
    /// Most slices of a universal file; `0xcafebabe` begins Java classes too, whose next number is larger.
    static let sliceLimit: UInt32 = 30

    /// In the order of the file.
    package let slices: [MachOSlice]
    /// Whether the file has a universal header.
    package let isUniversal: Bool

    /// Whether a file begins like one of those that are read here.
    package static func begins(_ start: some Collection<UInt8>) -> Bool {
        let magics: [[UInt8]] = [
            [0xcf, 0xfa, 0xed, 0xfe], [0xce, 0xfa, 0xed, 0xfe], [0xca, 0xfe, 0xba, 0xbe], [0xca, 0xfe, 0xba, 0xbf],
        ]
        return magics.contains { start.starts(with: $0) }
    }

    /// Reads a file's headers and what its signature says.
    /// - Throws: `CodeSignatureError`, and whatever the source's reading throws
    package init(_ source: ByteSource) throws {
        guard source.size >= 4 else { throw CodeSignatureError.notMachO }
        let magic = try source.part("the magic number", at: 0, count: 4)
        switch try magic.big(UInt32.self, at: 0, "the magic number") {
        case 0xcafe_babe: slices = try Self.slices(source, wide: false)
        case 0xcafe_babf: slices = try Self.slices(source, wide: true)
        case 0xcffa_edfe, 0xcefa_edfe:
            isUniversal = false
            slices = [try MachOSlice(source, at: 0, size: source.size)]
            return
        default: throw CodeSignatureError.notMachO
        }
        isUniversal = true
    }

    private static func slices(_ source: ByteSource, wide: Bool) throws -> [MachOSlice] {
        let head = try source.part("the universal header", at: 0, count: 8)
        let count = try head.big(UInt32.self, at: 4, "the number of slices")
        guard (1...sliceLimit).contains(count) else {
            throw CodeSignatureError.malformed(offset: 4, problem: "\(count) slices are no number of slices")
        }
        let width = wide ? 32 : 20
        let table = try source.part("the table of slices", at: 8, count: UInt64(count) * UInt64(width))
        let ends = 8 + UInt64(table.bytes.count)
        var slices: [MachOSlice] = []
        var refusal = CodeSignatureError.notMachO
        for index in 0..<Int(count) {
            let place = index * width
            let offset: UInt64
            let size: UInt64
            if wide {
                offset = try table.big(UInt64.self, at: place + 8, "a slice's offset")
                size = try table.big(UInt64.self, at: place + 16, "a slice's size")
            } else {
                offset = UInt64(try table.big(UInt32.self, at: place + 8, "a slice's offset"))
                size = UInt64(try table.big(UInt32.self, at: place + 12, "a slice's size"))
            }
            guard offset >= ends, offset <= source.size, size <= source.size - offset else {
                throw table.malformed(
                    place,
                    "slice \(index + 1), \(size) bytes at \(offset), does not lie in the file of \(source.size) bytes"
                )
            }
            do {
                slices.append(try MachOSlice(source, at: offset, size: size))
            } catch let error as CodeSignatureError {
                // A 32-bit slice beside those that run today.
                guard case .unsupported = error else { throw error }
                refusal = error
            }
        }
        guard !slices.isEmpty else { throw refusal }
        return slices
    }
}
