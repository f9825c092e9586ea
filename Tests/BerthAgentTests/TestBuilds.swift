import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Bundles for tests, as assignments name them.
struct TestBuild: Sendable {
    let manifest: BuildManifest
    let files: [Digest: String]
    let assigned: AssignedBuild

    /// The bytes of all blobs, the manifest's among them.
    func blobs() throws -> [Digest: [UInt8]] {
        var blobs: [Digest: [UInt8]] = [:]
        for (digest, path) in files { blobs[digest] = try DurableFile.read(path, limit: 256 << 20) }
        blobs[assigned.id] = try CanonicalJSON.encode(manifest)
        return blobs
    }

    /// A sample app of the repository.
    static func sample(_ name: String, version: String, in folder: String) async throws -> TestBuild {
        try read(try await bundle(name, as: name, version: version, in: folder))
    }

    /// The scripted app with a behaviour.
    static func scripted(_ behaviour: String, version: String, in folder: String) async throws -> TestBuild {
        let bundle = try await bundle("scripted-app", as: "scripted-\(version)", version: version, in: folder)
        try Data(behaviour.utf8).write(to: URL(fileURLWithPath: bundle + "/behaviour.json"))
        return try read(bundle)
    }

    /// Like `scripted`, with a bundle that was tampered with before it was archived.
    static func broken(version: String, in folder: String, _ change: (_ bundle: String) throws -> Void) async throws
        -> TestBuild
    {
        let bundle = try await bundle("scripted-app", as: "broken-\(version)", version: version, in: folder)
        try Data("{}".utf8).write(to: URL(fileURLWithPath: bundle + "/behaviour.json"))
        try change(bundle)
        return try read(bundle)
    }

    private static func bundle(
        _ executable: String,
        as name: String,
        version: String,
        in folder: String
    ) async throws -> String {
        let bundle = "\(folder)/\(name).app"
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: Products.repository + "/ops/bundle-app",
                arguments: [
                    Products.path(executable), bundle, "--bundle-id", "com.example.product", "--version", version,
                    "--build", "1", "--entitlements",
                    Products.repository + "/Sources/SampleApps/Product.entitlements",
                ],
                environment: ["PATH": "/usr/bin:/bin"]
            ),
            timeout: .seconds(30)
        )
        guard result.termination == .exited(0) else { throw TestFailure("bundle-app: \(result.errorText)") }
        return bundle
    }

    private static func read(_ bundle: String) throws -> TestBuild {
        let archived = try BundleArchiver.manifest(of: bundle)
        let description = BuildDescription(
            name: String(archived.manifest.name.dropLast(4)),
            bundleIdentifier: "com.example.product",
            version: "1.0",
            number: "1",
            platform: .linuxSimulated,
            minimumOS: nil,
            executable: "app"
        )
        let id = Digest.sha256(of: try CanonicalJSON.encode(archived.manifest))
        return TestBuild(
            manifest: archived.manifest,
            files: archived.files,
            assigned: AssignedBuild(id: id, description: description)
        )
    }
}

/// Why a test cannot go on.
struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
