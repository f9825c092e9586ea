import BerthArchive
import BerthCore
import BerthSystem
import Foundation

/// Brings an app bundle into the archive: only what is missing there is sent.
struct BuildUpload: Sendable {
    /// What it took.
    struct Result: Sendable {
        let answer: APIAnswer<BuildRecord>
        let files: Int
        let sentFiles: Int
        /// Bytes.
        let sentSize: Int64
    }

    /// How many files are sent at the same time.
    static let parallel = 4
    /// How many blobs are asked about in one request.
    static let questionSize = 1000

    let client: APIClient

    /// Archives the bundle at a path, under another name than its folder's if one is given.
    func archive(_ path: String, name: String?) async throws -> Result {
        let bundle = try await Threads.run(name: "berth bundle") {
            guard access(path, F_OK) == 0 else { throw SystemError(operation: "open", path: path) }
            return try BundleArchiver.manifest(of: path)
        }
        let manifest =
            name.map { BuildManifest(name: "\($0).app", entries: bundle.manifest.entries) } ?? bundle.manifest
        let blobs = manifest.blobs
        let missing = try await missing(blobs)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, blob) in missing.enumerated() {
                if index >= Self.parallel { try await group.next() }
                guard let file = bundle.files[blob.digest] else { continue }
                group.addTask { try await send(blob, file) }
            }
            try await group.waitForAll()
        }
        let bytes = try CanonicalJSON.encode(manifest)
        let id = Digest.sha256(of: bytes)
        try await client.putBlob(id, bytes: bytes)
        let answer = try await client.post(
            APIClient.path("builds"),
            BuildRequest(manifest: id),
            as: BuildRecord.self
        )
        return Result(
            answer: answer,
            files: blobs.count,
            sentFiles: missing.count,
            sentSize: missing.reduce(0) { $0 + $1.size }
        )
    }

    private func missing(_ blobs: [BlobReference]) async throws -> [BlobReference] {
        var missing: Set<Digest> = []
        for start in stride(from: 0, to: blobs.count, by: Self.questionSize) {
            let part = Array(blobs[start..<min(start + Self.questionSize, blobs.count)])
            let path = APIClient.path("blobs", "missing")
            missing.formUnion(try await client.post(path, BlobList(blobs: part), as: MissingList.self).value.missing)
        }
        return blobs.filter { missing.contains($0.digest) }
    }

    private func send(_ blob: BlobReference, _ file: String) async throws {
        do {
            try await client.putBlob(blob.digest, file: file)
        } catch let failure as CommandFailure {
            throw CommandFailure(failure.status, "\(file): \(failure.message)")
        }
    }
}
