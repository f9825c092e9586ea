import BerthCore
import BerthSystem
import Foundation

/// Reads what an archived bundle says about itself, from its blobs.
package enum BundleInspector {
    private static let plistLimit = 1 << 20

    /// - Throws: `ArchiveError` that says what is wrong with the bundle, `SystemError`
    package static func describe(_ manifest: BuildManifest, in blobs: BlobDirectory) throws -> BuildDescription {
        guard let digest = file("Info.plist", of: manifest)?.digest else {
            throw ArchiveError.infoPlist(problem: "is missing")
        }
        let bytes = try blobs.read(digest, limit: plistLimit)
        let parsed: Any
        do {
            parsed = try PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        } catch {
            throw ArchiveError.infoPlist(problem: "is damaged: it is no property list")
        }
        guard let info = parsed as? [String: Any] else {
            throw ArchiveError.infoPlist(problem: "is damaged: its top is no dictionary")
        }
        func text(_ key: String) throws -> String {
            guard let value = info[key] as? String, !value.isEmpty, value.utf8.count <= 255 else {
                throw ArchiveError.infoPlist(problem: "has no \(key)")
            }
            return value
        }
        let executable = try text("CFBundleExecutable")
        guard let program = file(executable, of: manifest), let programDigest = program.digest else {
            throw ArchiveError.executable(name: executable, problem: "is missing from the bundle")
        }
        guard program.executable == true else {
            throw ArchiveError.executable(name: executable, problem: "lacks the execute permission")
        }
        let start = try blobs.read(programDigest, offset: 0, count: 64)
        let platforms = info["CFBundleSupportedPlatforms"] as? [String] ?? []
        return BuildDescription(
            name: String(manifest.name.dropLast(4)),
            bundleIdentifier: try text("CFBundleIdentifier"),
            version: try text("CFBundleShortVersionString"),
            number: try text("CFBundleVersion"),
            platform: try platform(start, platforms, executable),
            minimumOS: info["MinimumOSVersion"] as? String,
            executable: executable,
            signing: BuildSigning(try BundleSignature.read(manifest, executable: executable, in: blobs))
        )
    }

    private static func file(_ path: String, of manifest: BuildManifest) -> BuildManifest.Entry? {
        manifest.entries.first { $0.path == path && $0.type == .file }
    }

    private static func platform(_ start: [UInt8], _ named: [String], _ executable: String) throws -> Platform {
        let machO: [[UInt8]] = [[0xcf, 0xfa, 0xed, 0xfe], [0xca, 0xfe, 0xba, 0xbe], [0xca, 0xfe, 0xba, 0xbf]]
        if start.starts(with: [0x7f, 0x45, 0x4c, 0x46]) { return .linuxSimulated }
        guard machO.contains(where: { start.starts(with: $0) }) else {
            throw ArchiveError.executable(name: executable, problem: "is neither a Mach-O nor an ELF program")
        }
        if named.contains("iPhoneSimulator") { return .iosSimulator }
        if named.contains("iPhoneOS") { return .iosDevice }
        throw ArchiveError.infoPlist(
            problem:
                "names neither iPhoneSimulator nor iPhoneOS in CFBundleSupportedPlatforms, so its platform is unknown"
        )
    }
}
