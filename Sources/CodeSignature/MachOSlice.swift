/// One architecture's part of an executable, as far as it concerns what the system lets it do.
package struct MachOSlice: Sendable {
    /// Longest list of load commands that is read, in bytes.
    static let commandLimit: UInt32 = 4 << 20
    /// Longest section with entitlements that is read, in bytes.
    static let entitlementLimit: UInt64 = 1 << 20

    /// `arm64`, `x86_64`, or the CPU type in hexadecimal.
    package let architecture: String
    /// Where it is meant to run; nil when it does not say.
    package let target: Target?
    /// The XML property list that a simulator build keeps in `__TEXT,__entitlements`.
    package let embeddedEntitlements: ByteWindow?
    /// The same in DER, from `__TEXT,__ents_der`.
    package let embeddedDER: ByteWindow?
    /// The code signature; nil for a file that is not signed.
    package let signature: EmbeddedSignature?

    /// What a slice says it was made for, by its number in the format.
    package enum Target: Sendable, Hashable {
        case iOS
        case iOSSimulator
        case other(UInt32)
    }

    /// A section with its place in the slice.
    private struct Section {
        let offset: UInt64
        let size: UInt64
        /// Offset of its description in the file.
        let place: UInt64
    }

    init(_ source: ByteSource, at start: UInt64, size: UInt64) throws {
        func part(_ name: String, _ offset: UInt64, _ count: UInt64) throws -> ByteWindow {
            guard offset <= size, count <= size - offset else {
                throw CodeSignatureError.malformed(
                    offset: start + min(offset, size),
                    problem: "\(name), \(count) bytes at \(offset), reaches beyond the slice of \(size) bytes"
                )
            }
            return try source.part(name, at: start + offset, count: count)
        }
        let head = try part("the Mach-O header", 0, 28)
        let magic = try head.big(UInt32.self, at: 0, "the magic number")
        if magic == 0xcefa_edfe {
            throw CodeSignatureError.unsupported(offset: start, problem: "a 32-bit Mach-O file")
        }
        guard magic == 0xcffa_edfe else {
            throw head.malformed(0, "the slice does not begin as a 64-bit Mach-O file does")
        }
        let processor = try head.little(UInt32.self, at: 4, "the CPU type")
        let variant = try head.little(UInt32.self, at: 8, "the CPU subtype") & 0xff_ffff
        let count = try head.little(UInt32.self, at: 16, "the number of load commands")
        let length = try head.little(UInt32.self, at: 20, "the length of the load commands")
        guard length <= Self.commandLimit else {
            throw head.malformed(20, "\(length) bytes of load commands; at most \(Self.commandLimit) are read")
        }
        let commands = try part("the load commands", 32, UInt64(length))
        var target: Target?
        var oldTarget: Target?
        var sections: [String: Section] = [:]
        var signature: (offset: UInt32, size: UInt32)?
        var place = 0
        for number in 0..<count {
            guard place < commands.bytes.count else {
                throw commands.malformed(place, "load command \(number + 1) of \(count) lies beyond their end")
            }
            let kind = try commands.little(UInt32.self, at: place, "a load command")
            let width = Int(try commands.little(UInt32.self, at: place + 4, "a load command's length"))
            guard width >= 8 else { throw commands.malformed(place + 4, "a load command of \(width) bytes") }
            let command = try commands.slice(at: place, count: width, "load command \(number + 1)")
            switch kind {
            case 0x19: try Self.collect(command, into: &sections)
            case 0x1d:
                guard signature == nil else { throw command.malformed(0, "a second code signature") }
                signature = (
                    try command.little(UInt32.self, at: 8, "the signature's offset"),
                    try command.little(UInt32.self, at: 12, "the signature's length")
                )
            case 0x32: target = Self.target(try command.little(UInt32.self, at: 8, "the platform"))
            case 0x25: oldTarget = .iOS
            default: break
            }
            place += width
        }
        architecture = Self.name(processor, variant)
        self.target = target ?? oldTarget
        func content(_ name: String) throws -> ByteWindow? {
            guard let section = sections[name], section.size > 0 else { return nil }
            guard section.size <= Self.entitlementLimit else {
                throw CodeSignatureError.malformed(
                    offset: section.place,
                    problem: "section \(name) has \(section.size) bytes; at most \(Self.entitlementLimit) are read"
                )
            }
            return try part("section \(name)", section.offset, section.size)
        }
        embeddedEntitlements = try content("__entitlements")
        embeddedDER = try content("__ents_der")
        self.signature = try signature.map { offset, length in
            guard UInt64(offset) <= size, UInt64(length) <= size - UInt64(offset) else {
                throw CodeSignatureError.malformed(
                    offset: start + min(UInt64(offset), size),
                    problem:
                        "the code signature, \(length) bytes at \(offset), reaches beyond the slice's end at \(size)"
                )
            }
            return try EmbeddedSignature(source, at: start + UInt64(offset), size: UInt64(length))
        }
    }

    /// Notes the sections of a `__TEXT` segment that hold entitlements.
    private static func collect(_ command: ByteWindow, into sections: inout [String: Section]) throws {
        let count = Int(try command.little(UInt32.self, at: 64, "the number of sections"))
        guard count <= (command.bytes.count - 72) / 80 else {
            let size = command.bytes.count
            throw command.malformed(64, "\(count) sections do not fit into a segment command of \(size) bytes")
        }
        for index in 0..<count {
            let place = 72 + 80 * index
            let name = try command.text(at: place, width: 16, "a section's name")
            guard ["__entitlements", "__ents_der"].contains(name), sections[name] == nil else { continue }
            guard try command.text(at: place + 16, width: 16, "a section's segment") == "__TEXT" else { continue }
            sections[name] = Section(
                offset: UInt64(try command.little(UInt32.self, at: place + 48, "a section's offset")),
                size: try command.little(UInt64.self, at: place + 40, "a section's size"),
                place: command.origin + UInt64(place)
            )
        }
    }

    private static func target(_ number: UInt32) -> Target {
        switch number {
        case 2: .iOS
        case 7: .iOSSimulator
        default: .other(number)
        }
    }

    private static func name(_ processor: UInt32, _ variant: UInt32) -> String {
        switch (processor, variant) {
        case (0x0100_0007, _): "x86_64"
        case (0x0100_000c, 2): "arm64e"
        case (0x0100_000c, _): "arm64"
        default: "0x" + String(processor, radix: 16)
        }
    }
}
