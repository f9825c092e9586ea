import BerthArchive
import BerthCore
import BerthStore
import BerthSystem

extension API {
    /// Takes in a user's case: checked, archived as its canonical bytes, and known by name from then on.
    func addCase(_ bytes: [UInt8]) async throws -> HTTPResponse {
        let definition = try CaseDefinition.parse(bytes)
        let canonical = try CanonicalJSON.encode(definition)
        let digest = Digest.sha256(of: canonical)
        // The blob first: a case that is known has its bytes.
        _ = try await archive.store(canonical, as: digest)
        let now = Timestamp.now().milliseconds
        let (record, isNew) = try await store.addUserCase(definition, digest: digest, now: now)
        return Self.json(record, status: isNew ? 201 : 200)
    }
}
