/// The code signature of a slice, as far as it names its owner and what it is entitled to. Certificates and the
/// cryptographic signature are never read.
package struct EmbeddedSignature: Sendable {
    /// Most blobs that a signature may list.
    private static let blobLimit: UInt32 = 64
    /// Longest entitlements that are read, in bytes.
    private static let entitlementLimit: UInt32 = 1 << 20

    /// Of the first code directory.
    package let codeDirectory: CodeDirectory?
    /// The XML property list, without the blob's header.
    package let entitlements: ByteWindow?
    /// The same in DER.
    package let entitlementsDER: ByteWindow?

    init(_ source: ByteSource, at start: UInt64, size: UInt64) throws {
        func part(_ name: String, _ offset: UInt32, _ count: UInt64) throws -> ByteWindow {
            guard UInt64(offset) <= size, count <= size - UInt64(offset) else {
                throw CodeSignatureError.malformed(
                    offset: start + min(UInt64(offset), size),
                    problem: "\(name), \(count) bytes at \(offset), reaches beyond the signature of \(size) bytes"
                )
            }
            return try source.part(name, at: start + UInt64(offset), count: count)
        }
        let head = try part("the signature's header", 0, 12)
        let magic = try head.big(UInt32.self, at: 0, "the signature's magic number")
        guard magic == 0xfade_0cc0 else {
            throw head.malformed(0, "0x\(String(magic, radix: 16)) does not begin a code signature")
        }
        let length = try head.big(UInt32.self, at: 4, "the signature's length")
        guard UInt64(length) <= size else {
            throw head.malformed(4, "the signature says it has \(length) bytes, its place has \(size)")
        }
        let count = try head.big(UInt32.self, at: 8, "the number of the signature's blobs")
        guard count <= Self.blobLimit else { throw head.malformed(8, "\(count) blobs are too many for a signature") }
        let index = try part("the signature's index", 12, UInt64(count) * 8)
        var directory: CodeDirectory?
        var entitlements: ByteWindow?
        var entitlementsDER: ByteWindow?
        for number in 0..<Int(count) {
            let slot = try index.big(UInt32.self, at: number * 8, "a blob's slot")
            guard [0, 5, 7].contains(slot) else { continue }
            let offset = try index.big(UInt32.self, at: number * 8 + 4, "a blob's offset")
            let blob = try part("the blob of slot \(slot)", offset, 8)
            let kind = try blob.big(UInt32.self, at: 0, "a blob's magic number")
            let length = try blob.big(UInt32.self, at: 4, "a blob's length")
            guard length >= 8 else { throw blob.malformed(4, "a blob of \(length) bytes") }
            func content(_ expected: UInt32, _ earlier: ByteWindow?) throws -> ByteWindow {
                guard kind == expected else {
                    throw blob.malformed(0, "slot \(slot) holds a blob of kind 0x\(String(kind, radix: 16))")
                }
                guard earlier == nil else { throw blob.malformed(0, "slot \(slot) is there twice") }
                guard length <= Self.entitlementLimit else {
                    throw blob.malformed(4, "entitlements of \(length) bytes")
                }
                let whole = try part("the blob of slot \(slot)", offset, UInt64(length))
                return try whole.slice(at: 8, count: Int(length) - 8, "the blob of slot \(slot)")
            }
            switch slot {
            case 0:
                guard kind == 0xfade_0c02 else { throw blob.malformed(0, "slot 0 holds no code directory") }
                guard directory == nil else { throw blob.malformed(0, "slot 0 is there twice") }
                let whole = try part("the code directory", offset, UInt64(length))
                directory = try CodeDirectory(whole)
            case 5: entitlements = try content(0xfade_7171, entitlements)
            default: entitlementsDER = try content(0xfade_7172, entitlementsDER)
            }
        }
        codeDirectory = directory
        self.entitlements = entitlements
        self.entitlementsDER = entitlementsDER
    }
}
