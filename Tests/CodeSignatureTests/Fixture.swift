import CodeSignature
import Foundation

/// Files beside the tests, and executables made in memory.
enum Fixture {
    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent("Fixtures/\(name)")))
    }

    static func xml(_ entitlements: [String: PropertyListValue]) -> PropertyListValue { .dictionary(entitlements) }

    /// Entitlements with access groups, and an application identifier if given.
    static func identity(_ groups: [String], application: String? = nil, team: String? = nil) -> CodeIdentity {
        var entries: [String: PropertyListValue] = ["keychain-access-groups": .array(groups.map { .string($0) })]
        if let application { entries["application-identifier"] = .string(application) }
        return CodeIdentity(teamIdentifier: team, entitlements: .dictionary(entries), source: .file)
    }

    /// A device build as its loader commands and signature look: one slice with a code directory and both forms of
    /// entitlements.
    static func signed(identifier: String, team: String, xml: [UInt8]?, der: [UInt8]?) -> [UInt8] {
        func big(_ number: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        func little(_ number: Int) -> [UInt8] { big(number).reversed() }
        let names = Array(identifier.utf8) + [0] + Array(team.utf8) + [0]
        var directory = big(0xfade_0c02) + big(88 + names.count) + big(0x20400) + big(0) + big(88) + big(88)
        directory += [UInt8](repeating: 0, count: 48 - directory.count)
        directory += big(88 + identifier.utf8.count + 1)
        directory += [UInt8](repeating: 0, count: 88 - directory.count) + names
        var blobs = [(0, directory)]
        if let xml { blobs.append((5, big(0xfade_7171) + big(xml.count + 8) + xml)) }
        if let der { blobs.append((7, big(0xfade_7172) + big(der.count + 8) + der)) }
        var index: [UInt8] = []
        var content: [UInt8] = []
        for (slot, blob) in blobs {
            index += big(slot) + big(12 + 8 * blobs.count + content.count)
            content += blob
        }
        let signature = big(0xfade_0cc0) + big(12 + index.count + content.count) + big(blobs.count) + index + content
        let header = [0xcf, 0xfa, 0xed, 0xfe] + little(0x0100_000c) + little(0) + little(2) + little(2) + little(32)
        let commands = little(0x1d) + little(16) + little(64) + little(signature.count) + little(0x32) + little(16)
        return header + little(0) + little(0) + commands + little(2) + little(0) + signature
    }
}
