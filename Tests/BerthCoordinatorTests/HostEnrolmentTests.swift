import BerthCoordinator
import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// `POST /v1/hosts` over real HTTP.
@Suite(.timeLimit(.minutes(5)))
struct HostEnrolmentTests {
    private static let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"

    private func record(proxyCommand: String? = nil, jump: [HostRecord.JumpHost]? = nil) -> HostRecord {
        HostRecord(
            name: "far",
            hostName: "192.0.2.2",
            port: 22,
            user: "berth",
            identityFile: "/nowhere",
            hostKey: Self.key,
            proxyCommand: proxyCommand,
            jump: jump
        )
    }

    @Test("A host behind jump hosts is enrolled and listed with them; unusable routes and commands are refused")
    func routes() async throws {
        try await ServedFarm.run { farm in
            func refusal(_ record: HostRecord) async throws -> (status: Int, text: String) {
                let answer = try await farm.post("/v1/hosts", record)
                return (answer.status, String(decoding: answer.body, as: UTF8.self))
            }
            let command = try await refusal(record(proxyCommand: "touch /tmp/x"))
            #expect(command.status == 403)
            #expect(command.text.contains("proxy-command-not-allowed"))
            let hop = HostRecord.JumpHost(user: "u", hostName: "gate", port: 22, hostKey: Self.key)
            for jump in [[], [HostRecord.JumpHost(user: "-oX=y", hostName: "gate", port: 22, hostKey: Self.key)]] {
                let refused = try await refusal(record(jump: jump))
                #expect(refused.status == 400)
                #expect(refused.text.contains("malformed-route"))
            }
            #expect(try await farm.post("/v1/hosts", record(jump: [hop])).status == 201)
            let views = try await farm.value([HostView].self, "/v1/hosts")
            #expect(views.first { $0.host.name == "far" }?.host == record(jump: [hop]))
        }
    }

    @Test("A proxy command from when they were allowed is not run by a coordinator that allows none")
    func formerProxyCommand() async throws {
        try await ServedFarm.run { farm in
            let marker = "\(farm.folder.path)/started"
            try await farm.store.addHost(record(proxyCommand: "touch '\(marker)'"), now: 1)
            let answer = try await farm.post("/v1/hosts/far/doctor", [String: String]())
            let report = try CanonicalJSON.decode(DoctorReport.self, from: answer.body, document: "report")
            let check = try #require(report.checks.first)
            #expect(check.state == .problem && "\(check)".contains("--allow-proxy-commands"), "\(report.checks)")
            #expect(!FileManager.default.fileExists(atPath: marker))
            // It can be corrected, as long as the change itself brings no command.
            var change = HostChange()
            change.jump = []
            #expect(try await farm.post("/v1/hosts/far/change", change).status == 200)
            #expect(try await farm.store.hosts().first { $0.name == "far" }?.proxyCommand == nil)
        }
    }

    @Test("A changed host is connected to anew, by the new record; unusable changes are refused and change nothing")
    func change() async throws {
        try await ServedFarm.run { farm in
            #expect(try await farm.post("/v1/hosts", record()).status == 201)
            func answer(_ edit: (inout HostChange) -> Void, to host: String = "far") async throws -> RawClient.Answer {
                var change = HostChange()
                edit(&change)
                return try await farm.post("/v1/hosts/\(host)/change", change)
            }
            try await eventually("both hosts are tried") { farm.host.connections == 2 }
            #expect(try await answer { $0.hostKey = "ssh-ed25519 AAAA" }.text.contains("malformed-host-key"))
            #expect(try await answer { $0.proxyCommand = "touch /tmp/x" }.text.contains("proxy-command-not-allowed"))
            let hop = HostRecord.JumpHost(user: "-oX=y", hostName: "gate", port: 22, hostKey: Self.key)
            #expect(try await answer { $0.jump = [hop] }.text.contains("malformed-route"))
            #expect(try await answer({ $0.user = "u" }, to: "near").text.contains("unknown-host"))
            #expect(farm.host.connections == 2)
            #expect(try await answer { $0.hostName = "192.0.2.9" }.status == 200)
            try await eventually("it is tried anew") { farm.host.connections == 3 }
            let views = try await farm.value([HostView].self, "/v1/hosts")
            #expect(views.first { $0.host.name == "far" }?.host.hostName == "192.0.2.9")
        }
    }

    @Test("A host that is at work is not removed, and is told what to do first; a drained one leaves for good")
    func removal() async throws {
        try await ServedFarm.run { farm in
            try await farm.host.greet()
            try farm.host.join("a")
            try await eventually("the slot is known") { try await farm.store.slots().count == 1 }
            try await farm.submit(["update", "restart"])
            let assignment = try await farm.assignment(to: "a")
            try farm.accept(assignment, on: "a")
            func remove() async throws -> RawClient.Answer {
                try await farm.post("/v1/hosts/host-1/remove", [String: String]())
            }
            let refused = try await remove()
            #expect(refused.status == 409 && refused.text.contains("host-busy") && refused.text.contains("host drain"))
            #expect(try await farm.post("/v1/hosts/host-1/drain", ServiceRequest(reason: "old")).status == 200)
            try farm.end(assignment, on: "a")
            try await eventually("its attempt has ended") { try await farm.store.openAttempts().isEmpty }
            #expect(try await remove().status == 200)
            #expect(try await farm.value([HostView].self, "/v1/hosts").isEmpty)
            try await eventually("its channel is given up") { try await farm.get("/v1/slots/a/why").status == 404 }
            #expect(try await farm.value(LedgerView.self, "/v1/ledgers/simulator").entries.map(\.host) == ["host-1"])
            // The other run waits for whoever comes.
            #expect(try await farm.post("/v1/hosts", StandInHost.record).status == 201)
            try await farm.host.greet()
            try farm.host.join("a")
            #expect(try await farm.assignment(to: "a", number: 2).run != assignment.run)
        }
    }
}
