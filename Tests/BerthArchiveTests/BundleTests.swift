import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Testing

struct BundleTests {
    /// A small bundle with everything that a bundle may hold.
    static func makeBundle(in folder: String, plist: String? = nil) throws -> String {
        let bundle = "\(folder)/Sample.app"
        try DurableFile.makeFolder("\(bundle)/Resources/deep")
        let info =
            plist
                ?? """
                <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
                <key>CFBundleIdentifier</key><string>com.example.product</string>
                <key>CFBundleExecutable</key><string>Sample</string>
                <key>CFBundleShortVersionString</key><string>1.0</string>
                <key>CFBundleVersion</key><string>10</string></dict></plist>
                """
        try DurableFile.replace("\(bundle)/Info.plist", with: Array(info.utf8), mode: 0o644)
        try DurableFile.replace("\(bundle)/Sample", with: [0x7f, 0x45, 0x4c, 0x46, 2, 1], mode: 0o755)
        try DurableFile.replace("\(bundle)/Resources/deep/a b.txt", with: Array("text".utf8), mode: 0o644)
        symlink("deep/a b.txt", "\(bundle)/Resources/link")
        return bundle
    }

    private static func archive(_ bundle: String, _ blobs: BlobDirectory) throws -> BuildManifest {
        let result = try BundleArchiver.manifest(of: bundle)
        for path in result.files.values { try blobs.insert(DurableFile.read(path, limit: 1 << 20)) }
        return result.manifest
    }

    @Test func aBundleComesBackAsItWent() throws {
        try withTemporaryFolder { folder in
            let bundle = try Self.makeBundle(in: folder)
            let blobs = try BlobDirectory(path: "\(folder)/blobs")
            let manifest = try Self.archive(bundle, blobs)
            let bytes = try CanonicalJSON.encode(manifest)
            #expect(try BuildManifest.parse(bytes) == manifest)
            let copy = try BundleMaterializer.materialize(manifest, from: blobs, to: "\(folder)/copy")
            #expect(try BundleArchiver.manifest(of: copy).manifest == manifest)
            #expect(access("\(copy)/Sample", X_OK) == 0)
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: "\(copy)/Resources/link") == "deep/a b.txt"
            )
            let description = try BundleInspector.describe(manifest, in: blobs)
            #expect(description.platform == .linuxSimulated && description.number == "10")
        }
    }

    /// The executables of the reader's own tests.
    private static func executable(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try DurableFile.read(folder.path + "/CodeSignatureTests/Fixtures/\(name)", limit: 1 << 20)
    }

    @Test("What a bundle may do is read from its executable; one that is damaged is noted and archived")
    func signing() throws {
        try withTemporaryFolder { folder in
            let plist = """
                <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.product</string>
                <key>CFBundleExecutable</key><string>Sample</string>
                <key>CFBundleShortVersionString</key><string>1.0</string><key>CFBundleVersion</key><string>10</string>
                <key>CFBundleSupportedPlatforms</key><array><string>iPhoneSimulator</string></array></dict></plist>
                """
            let bundle = try Self.makeBundle(in: folder, plist: plist)
            let blobs = try BlobDirectory(path: "\(folder)/blobs")
            func describe(_ executable: [UInt8]) throws -> BuildDescription {
                try DurableFile.replace("\(bundle)/Sample", with: executable, mode: 0o755)
                return try BundleInspector.describe(try Self.archive(bundle, blobs), in: blobs)
            }
            let whole = try Self.executable("demo-fat-iossim")
            let signing = try #require(try describe(whole).signing)
            #expect(signing.source == "section" && signing.accessGroups == ["ABCDE12345.com.example.demo"])
            #expect(signing.identifier?.hasPrefix("demo-") == true && signing.teamIdentifier == nil)
            #expect(signing.entitlements?.contains("<key>keychain-access-groups</key>") == true)
            let cut = try #require(try describe(Array(whole.prefix(whole.count / 2))).signing)
            #expect(cut.entitlements == nil && cut.notes.count == 1)
            #expect(cut.notes.first?.contains("malformed at offset") == true, "\(cut.notes)")
        }
    }

    @Test("A bundle that was laid out before is used again only as it was: no byte, name, mode or link may differ")
    func intact() throws {
        let changes: [(what: String, change: (String) throws -> Void)] = [
            ("a byte", { try Data([0x7f, 0x45, 0x4c, 0x46, 2, 9]).write(to: URL(fileURLWithPath: "\($0)/Sample")) }),
            ("the mode", { chmod("\($0)/Info.plist", 0o755) }),
            ("a file more", { try Data().write(to: URL(fileURLWithPath: "\($0)/Resources/more")) }),
            ("a file less", { unlink("\($0)/Resources/deep/a b.txt") }),
            ("a second name", { link("\($0)/Sample", "\($0)-elsewhere") }),
            (
                "another target",
                {
                    unlink("\($0)/Resources/link")
                    symlink("deep/other", "\($0)/Resources/link")
                }
            ),
            (
                "a folder elsewhere",
                {
                    rename("\($0)/Resources/deep", "\($0)-deep")
                    symlink("\($0)-deep", "\($0)/Resources/deep")
                }
            ),
        ]
        try withTemporaryFolder { folder in
            let bundle = try Self.makeBundle(in: folder)
            let blobs = try BlobDirectory(path: "\(folder)/blobs")
            let manifest = try Self.archive(bundle, blobs)
            for (index, (what, change)) in changes.enumerated() {
                let copy = LaidOutBundle(
                    path: try BundleMaterializer.materialize(manifest, from: blobs, to: "\(folder)/copy-\(index)")
                )
                #expect(copy.isIntact(manifest))
                try change(copy.path)
                #expect(!copy.isIntact(manifest), "\(what) was not noticed")
            }
            #expect(!LaidOutBundle(path: "\(folder)/nowhere").isIntact(manifest))
        }
    }

    @Test func aBlobThatRottedIsNotInstalled() throws {
        try withTemporaryFolder { folder in
            let bundle = try Self.makeBundle(in: folder)
            let blobs = try BlobDirectory(path: "\(folder)/blobs")
            let manifest = try Self.archive(bundle, blobs)
            let victim = try #require(manifest.entries.first { $0.path == "Sample" }?.digest)
            try Data([0x7f, 0x45, 0x4c, 0x46, 2, 9]).write(to: URL(fileURLWithPath: blobs.path(of: victim)))
            #expect(throws: ArchiveError.self) {
                try BundleMaterializer.materialize(manifest, from: blobs, to: "\(folder)/copy")
            }
        }
    }

    @Test func whatIsNoBundleIsNamed() throws {
        try withTemporaryFolder { folder in
            func problem(_ path: String) -> String {
                do {
                    _ = try BundleArchiver.manifest(of: path)
                    return "accepted"
                } catch {
                    return "\(error)"
                }
            }
            #expect(problem("\(folder)/absent.app").contains("No such file"))
            try DurableFile.replace("\(folder)/file.app", with: [])
            #expect(problem("\(folder)/file.app").contains("no folder"))
            try DurableFile.makeFolder("\(folder)/plain")
            #expect(problem("\(folder)/plain").contains(".app"))
            try DurableFile.makeFolder("\(folder)/empty.app")
            #expect(problem("\(folder)/empty.app").contains("Info.plist"))
            let bundle = try Self.makeBundle(in: folder)
            symlink("../../outside", "\(bundle)/Resources/escape")
            #expect(problem(bundle).contains("out of the bundle"))
        }
    }

    @Test(arguments: [
        ("this is no plist {", "damaged"), ("<plist version=\"1.0\"><array/></plist>", "damaged"),
        ("<plist version=\"1.0\"><dict/></plist>", "CFBundleExecutable"),
    ])
    func damagedInfoPlistsAreNamed(plist: String, problem: String) throws {
        try withTemporaryFolder { folder in
            let blobs = try BlobDirectory(path: "\(folder)/blobs")
            let manifest = try Self.archive(try Self.makeBundle(in: folder, plist: plist), blobs)
            do {
                _ = try BundleInspector.describe(manifest, in: blobs)
                Issue.record("accepted")
            } catch {
                #expect("\(error)".contains(problem), "\(error)")
            }
        }
    }
}
