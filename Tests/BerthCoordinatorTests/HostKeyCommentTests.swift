import BerthCore
import BerthHosts
import BerthStore
import Testing

@testable import BerthCoordinator

/// Host keys as files have them, with a comment at their end.
@Suite(.timeLimit(.minutes(2)))
struct HostKeyCommentTests {
    private static let pinned = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
    private static let next = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgEA"

    @Test("A key with a comment is enrolled, and its successor is noted and trusted as any other's")
    func comment() async throws {
        try await ServedFarm.run { farm in
            let record = HostRecord(
                name: "far",
                hostName: "192.0.2.2",
                port: 22,
                user: "berth",
                identityFile: "/nowhere",
                hostKey: "\(Self.pinned) root@far, made in May"
            )
            let answer = try await farm.post("/v1/hosts", record)
            #expect(answer.status == 201, "\(answer.text)")
            let (old, new) = (try HostKey(line: record.hostKey), try HostKey(line: Self.next))
            let told = await farm.farm.hostShows(new, insteadOf: old, record: record)
            #expect(told.contains(old.fingerprint) && told.contains(new.fingerprint))
            #expect(try await farm.store.hostKeyStates()["far"]?.shown?.fingerprint == new.fingerprint)
            let request = HostTrustRequest(fingerprint: new.fingerprint)
            let trusted = try await farm.post("/v1/hosts/far/trust", request)
            let view = try CanonicalJSON.decode(HostTrustView.self, from: trusted.body, document: "trust")
            #expect(view.state == .trusted && view.former == old.fingerprint)
            #expect(try await farm.store.hosts().first { $0.name == "far" }?.hostKey == new.line)
        }
    }
}
