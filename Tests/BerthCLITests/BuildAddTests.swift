import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization
import Testing

@testable import berth

@Suite("berth build add", .timeLimit(.minutes(5)))
struct BuildAddTests {
    /// Fewer than four files came at the same time.
    private struct Lonely: Error {}

    /// An archive behind HTTP, with how many files came at the same time.
    private final class Archive: Sendable {
        let blobs: BlobDirectory
        private let coming = Mutex((now: 0, most: 0, all: 0))
        private let four = DispatchSemaphore(value: 0)
        var mostAtOnce: Int { coming.withLock { $0.most } }

        init(_ folder: TemporaryDirectory) throws {
            blobs = try BlobDirectory(path: "\(folder.path)/archive")
        }

        func answer(_ request: HTTPPeer.Request) throws -> HTTPPeer.Response {
            guard request.headers["authorization"] == "Bearer secret-1" else {
                return try Sample.refusal(401, "unauthorized")
            }
            if request.path == "/v1/blobs/missing" {
                let asked = try CanonicalJSON.decode(BlobList.self, from: request.body, document: "question")
                let missing = asked.blobs.map(\.digest).filter { !blobs.contains($0) }
                return try Sample.answer(MissingList(missing: missing))
            }
            if request.path == "/v1/builds" {
                let build = try CanonicalJSON.decode(BuildRequest.self, from: request.body, document: "request")
                let manifest = try BuildManifest.parse(try blobs.read(build.manifest, limit: 1 << 20))
                guard manifest.blobs.allSatisfy({ blobs.contains($0.digest) }) else {
                    return try Sample.refusal(422, "not-a-build")
                }
                return try Sample.answer(Sample.build(manifest.name, id: build.manifest), status: 201)
            }
            let order = coming.withLock { state in
                state = (state.now + 1, max(state.most, state.now + 1), state.all + 1)
                return state.all
            }
            // The first four wait for one another; the peer has a thread for each.
            if order == 4 { for _ in 1...3 { four.signal() } }
            if order < 4, four.wait(timeout: .now() + 20) == .timedOut { throw Lonely() }
            defer { coming.withLock { $0.now -= 1 } }
            let digest = try blobs.insert(request.body)
            guard request.path == "/v1/blobs/\(digest.hex)" else { return try Sample.refusal(422, "digest-mismatch") }
            return try Sample.answer(["stored": true], status: 201)
        }
    }

    private func bundle(_ folder: TemporaryDirectory, files: Int) throws -> String {
        let path = "\(folder.path)/correct.app"
        try FileManager.default.createDirectory(atPath: "\(path)/Resources", withIntermediateDirectories: true)
        try Data("plist".utf8).write(to: URL(fileURLWithPath: "\(path)/Info.plist"))
        for index in 0..<files {
            let content = Data(repeating: UInt8(index), count: 200_000 + index)
            try content.write(to: URL(fileURLWithPath: "\(path)/Resources/\(index).bin"))
        }
        return path
    }

    @Test("Sends each missing file once, four at a time, and nothing the second time")
    func onlyMissing() async throws {
        let folder = try TemporaryDirectory()
        let archive = try Archive(folder)
        let peer = try HTTPPeer(archive.answer)
        let path = try bundle(folder, files: 12)
        let token = "\(folder.path)/token"
        try Data("secret-1\n".utf8).write(to: URL(fileURLWithPath: token))

        let first = CLIFixture()
        let status = await first.run("build", "add", path, "--coordinator", peer.address, "--token-file", token)
        #expect(status == .success, "\(first.errorOutput)")
        #expect(first.output.contains("13 files, 13 sent, 2.4 MB"), "\(first.output)")
        #expect(archive.mostAtOnce == 4)
        let puts = peer.requests.filter { $0.method == "PUT" }.map(\.path)
        #expect(Set(puts).count == 14 && puts.count == 14)
        let manifest = try BundleArchiver.manifest(of: path).manifest
        let id = Digest.sha256(of: try CanonicalJSON.encode(manifest))
        #expect(puts.last == "/v1/blobs/\(id.hex)")

        let again = CLIFixture()
        let environment = ["BERTH_COORDINATOR": peer.address + "/", "BERTH_TOKEN": "secret-1"]
        #expect(
            await again.run("build", "add", path, "--name", "renamed", "--json", environment: environment) == .success
        )
        let record = try CanonicalJSON.decode(BuildRecord.self, from: again.output.utf8, document: "output")
        #expect(record.description.name == "renamed.app")
        #expect(record.id != id)
        #expect(peer.requests.filter { $0.method == "PUT" }.count == 15)
    }

    @Test("Says by its exit status what is wrong: token, bundle, missing file, unreachable coordinator")
    func refusals() async throws {
        let folder = try TemporaryDirectory()
        let peer = try HTTPPeer(try Archive(folder).answer)
        let path = try bundle(folder, files: 1)
        let environment = ["BERTH_COORDINATOR": peer.address]
        let cli = CLIFixture()
        #expect(await cli.run("build", "add", path, environment: environment) == .unauthorized)
        #expect(cli.errorOutput.contains("no token was sent: set BERTH_TOKEN"))
        #expect(await cli.run("build", "add", "\(folder.path)/none.app", environment: environment) == .missingInput)
        #expect(await cli.run("build", "add", "\(path)/Resources", environment: environment) == .badInput)
        #expect(
            await cli.run("build", "list", "--token-file", "\(folder.path)/none", environment: environment)
                == .missingInput
        )
        #expect(await cli.run("build", "list", "--coordinator", "http://127.0.0.1:1") == .unreachable)
    }
}
