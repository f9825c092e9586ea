import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Testing

/// `GET /v1/evidence/MANIFEST/HEX`: a file of an attempt's evidence, wherever it lies.
struct EvidenceAPITests {
    @Test func filesAreGivenFromThePackAndFromTheBlobs() async throws {
        try await ServedFarm.run { farm in
            let blobs = try BlobDirectory(path: "\(farm.folder.path)/archive")
            let directory = EvidenceDirectory(beside: blobs)
            let (manifest, packed, empty) = (Array("manifest".utf8), [UInt8](repeating: 5, count: 100_000), [UInt8]())
            let (long, name) = ([UInt8](repeating: 6, count: 300_000), Digest.sha256(of: manifest))
            let files = [manifest, packed, empty]
            try directory.store(
                EvidencePack(blobs: Dictionary(uniqueKeysWithValues: files.map { (.sha256(of: $0), $0) })),
                as: name
            )
            try blobs.insert(long)
            func get(_ path: String, token: String? = ServedFarm.token) async throws -> RawClient.Answer {
                try await farm.get("/v1/\(path)", token: token)
            }
            func code(_ path: String, token: String? = ServedFarm.token) async throws -> String {
                let answer = try await get(path, token: token)
                let body = try CanonicalJSON.decode(ErrorBody.self, from: answer.body, document: "refusal")
                return "\(answer.status) \(body.error.code)"
            }
            for bytes in files + [long] {
                let answer = try await get("evidence/\(name.hex)/\(Digest.sha256(of: bytes).hex)")
                #expect(answer.status == 200 && answer.body == bytes)
            }
            #expect(try await get("blobs/\(name.hex)").body == manifest)
            #expect(try await get("blobs/\(Digest.sha256(of: long).hex)").body == long)
            let other = Digest.sha256(of: [1]).hex
            #expect(try await code("evidence/\(name.hex)/\(other)") == "404 unknown-blob")
            #expect(try await code("evidence/\(other)/\(name.hex)") == "404 unknown-blob")
            #expect(try await code("blobs/\(other)") == "404 unknown-blob")
            #expect(try await code("evidence/\(name.hex)/abc") == "400 malformed-digest")
            #expect(try await code("evidence/\(name.hex)/\(name.hex)", token: "wrong") == "401 unauthorized")
            try DurableFile.replace(directory.path(of: name), with: [])
            #expect(try await code("evidence/\(name.hex)/\(name.hex)") == "500 damaged-pack")
            #expect(try await get("evidence/\(name.hex)/\(Digest.sha256(of: long).hex)").body == long)
        }
    }
}
