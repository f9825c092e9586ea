import CodeSignature
import Testing

/// Executables of unknown origin: whatever is cut off or changed, there is a value or an error that names its place.
@Suite("Malformed executables", .timeLimit(.minutes(3)))
struct MalformedFileTests {
    /// Reads as far as anyone does, and checks that an error stays within the file.
    private func read(_ bytes: [UInt8]) throws {
        let size = UInt64(bytes.count)
        let source = ByteSource(size: size) { offset, count in
            guard offset <= size, UInt64(count) <= size - offset else { throw Outside() }
            return Array(bytes[Int(offset)..<(Int(offset) + count)])
        }
        do {
            let identity = try CodeIdentity(executable: source)
            _ = identity.accessGroups
            _ = identity.entitlements?.xml
        } catch let error as CodeSignatureError {
            if case .malformed(let offset, let problem) = error {
                #expect(!problem.isEmpty && offset <= size, "\(error) in \(size) bytes")
            }
        }
    }

    private struct Outside: Error {}

    private static func samples() throws -> [[UInt8]] {
        let xml = try Fixture.bytes("entitlements.xml")
        let der = try Fixture.bytes("entitlements.der")
        return try [
            Fixture.signed(identifier: "com.example.demo", team: "ABCDE12345", xml: xml, der: der),
            Fixture.bytes("demo-x86_64-iossim"), Fixture.bytes("demo-fat-iossim"),
        ]
    }

    @Test("Cut off at any offset")
    func truncations() throws {
        for sample in try Self.samples() {
            // Every offset of headers and signature; in the padding between them steps are enough.
            let cuts = Set(0..<min(sample.count, 3000)).union(stride(from: 0, to: sample.count, by: 61))
                .union((sample.count - min(sample.count, 600))..<sample.count)
            for cut in cuts { try read(Array(sample[..<cut])) }
        }
    }

    @Test("Any number changed to the worst")
    func changedNumbers() throws {
        let worsts: [[UInt8]] = [
            [0xff], [0], [0x80], [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0], [0x7f, 0xff, 0xff, 0xff],
        ]
        for sample in try Self.samples() {
            let places = Set(0..<min(sample.count, 2500)).union((sample.count - min(sample.count, 600))..<sample.count)
            for place in places.sorted() {
                for worst in worsts {
                    var changed = sample
                    for (index, byte) in worst.enumerated() where place + index < changed.count {
                        changed[place + index] = byte
                    }
                    try read(changed)
                }
            }
        }
    }

    @Test("Entitlements cut off or changed anywhere")
    func entitlements() throws {
        let xml = try Fixture.bytes("entitlements.xml")
        let der = try Fixture.bytes("entitlements.der")
        func both(_ bytes: [UInt8], isDER: Bool) {
            do {
                let window = ByteWindow(bytes: bytes, origin: 0)
                _ = isDER ? try DERPropertyList.read(window) : try XMLPropertyList.read(window)
            } catch {
                guard case .malformed(let offset, _) = error else { return }
                #expect(offset <= UInt64(bytes.count))
            }
        }
        for (sample, isDER) in [(xml, false), (der, true)] {
            for place in sample.indices {
                both(Array(sample[..<place]), isDER: isDER)
                for byte: UInt8 in [0, 0x7f, 0x80, 0x84, 0xff, UInt8(ascii: "<"), UInt8(ascii: "&"), UInt8(ascii: "/")]
                {
                    var changed = sample
                    changed[place] = byte
                    both(changed, isDER: isDER)
                }
            }
        }
    }
}
