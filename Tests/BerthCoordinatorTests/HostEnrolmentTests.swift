import BerthCoordinator
import BerthCore
import BerthSystem
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
}
