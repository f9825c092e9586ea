import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// A host that was set up anew shows another key.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct HostKeyRotationTests {
    private func fingerprint(_ server: TestSSHServer) async throws -> String {
        try await fingerprint(ofFile: server.directory + "/host_key.pub")
    }

    private func fingerprint(ofFile file: String) async throws -> String {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/usr/bin/ssh-keygen",
                arguments: ["-l", "-f", file]
            ),
            timeout: .seconds(10)
        )
        return try #require(result.outputText.split(separator: " ").dropFirst().first.map(String.init))
    }

    private func change(_ farm: TestFarm) async throws -> HostKeyChange? {
        let hosts = try await farm.json([HostView].self, ["host", "list"])
        return hosts.first?.keyChange
    }

    private func rotate(_ server: TestSSHServer) async throws -> String {
        await server.stop()
        try await server.replaceHostKey()
        try FileManager.default.removeItem(atPath: server.directory + "/log")
        try await server.start()
        return try await fingerprint(server)
    }

    @Test func anotherKeyIsRefusedUntilAnOperatorNamesItsFingerprintWhichIsOnRecord() async throws {
        try await TestFarm.with(slots: 1) { farm in
            let first = try await fingerprint(farm.ssh)
            let second = try await rotate(farm.ssh)
            try await eventually("the coordinator sees the other key") { try await change(farm)?.shown == second }
            let list = try await farm.berth(["host", "list"])
            #expect(list.contains("  pinned  \(first)\n  shown   \(second)\n"), "\(list)")
            #expect(list.contains("  berth host trust test-host --fingerprint \(second)\n"), "\(list)")
            #expect(!farm.ssh.log.contains("Accepted publickey"))

            // The fingerprint of some other key changes nothing.
            let other = "SHA256:" + String(repeating: "A", count: 43)
            let refused = try await farm.tryBerth(["host", "trust", "test-host", "--fingerprint", other])
            #expect(refused.termination == .exited(65))
            #expect(refused.errorText.contains(second) && refused.errorText.contains("nothing was changed"))
            #expect(!farm.ssh.log.contains("Accepted publickey"))

            #expect(
                try await farm.berth(["host", "trust", "test-host", "--fingerprint", second])
                    == "test-host is pinned to \(second) in place of \(first)\n"
            )
            try await farm.waitForIdleSlots(1)
            #expect(try await change(farm) == nil)
            let batch = try await farm.submit(new: ["correct"], cases: ["update"])
            #expect(try await farm.waitUntilFinished(batch.id).map(\.verdict) == [.passed])

            // The next key is announced before the host has it; the coordinator's restart loses nothing.
            let key = farm.ssh.directory + "/next"
            try await TestSSHServer.makeKey(key)
            let third = try await fingerprint(ofFile: key + ".pub")
            let announced = try await farm.berth(["host", "trust", "test-host", "--fingerprint", third])
            #expect(announced.contains("stays pinned to \(second): the host still shows its"), "\(announced)")
            await farm.killCoordinator()
            await farm.ssh.stop()
            for suffix in ["", ".pub"] {
                let place = farm.ssh.directory + "/host_key\(suffix)"
                try FileManager.default.removeItem(atPath: place)
                try FileManager.default.moveItem(atPath: farm.ssh.directory + "/next\(suffix)", toPath: place)
            }
            try await farm.ssh.start()
            try await farm.startCoordinator()
            try await farm.waitForIdleSlots(1)
            #expect(try await farm.json([HostView].self, ["host", "list"]).map(\.fingerprint) == [third])

            let all = try await farm.json([AuditEntry].self, ["audit", "--since", "1d"])
            #expect(all.first?.action == "token-added")
            let entries = Array(all.dropFirst())
            #expect(
                entries.map(\.action) == [
                    "host-added", "host-key-refused", "host-key-trusted", "host-key-expected", "host-key-trusted",
                ]
            )
            #expect(entries.allSatisfy { $0.actor == "admin" && $0.subject == "host test-host" })
            #expect(entries[2].details == ["oldFingerprint": first, "newFingerprint": second])
            #expect(entries[4].details["oldFingerprint"] == second && entries[4].details["newFingerprint"] == third)
            #expect(try await farm.berth(["audit"]).contains("oldFingerprint=\(first)"))
        }
    }
}
