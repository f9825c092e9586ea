import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Every way to reach a host that `host add` offers carries a run.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct HostOptionTests {
    /// Runs the update case on a host's slot.
    private func run(on host: FarHost, _ farm: TestFarm) async throws -> RunView {
        let plan = try farm.write(
            """
            format: 1
            name: by way of \(host.name)
            old: legacy
            new: [correct]
            cases: [update]
            os: [latest]
            platforms: [linux-simulated]
            labels:
              host: \(host.name)
            """,
            to: "\(host.name).yaml"
        )
        let batch = try await farm.json(BatchView.self, ["submit", "--plan", plan])
        return try #require(try await farm.waitUntilFinished(batch.id).first)
    }

    private func enrolled(_ host: FarHost, _ options: [String], _ farm: TestFarm) async throws {
        try await host.enrol(in: farm, options)
        try await eventually("the slot of \(host.name) is idle") {
            let hosts = try await farm.json([HostView].self, ["host", "list"])
            return hosts.first { $0.host.name == host.name }?.slots.first?.state == .idle
        }
    }

    /// Runs a body with a host that is stopped afterwards.
    private func with(
        _ name: String,
        _ farm: TestFarm,
        extraConfiguration: [String] = [],
        _ body: (FarHost) async throws -> Void
    ) async throws {
        let host = try await FarHost(name, of: farm, extraConfiguration: extraConfiguration)
        do {
            try await body(host)
        } catch {
            await host.stop()
            throw error
        }
        await host.stop()
    }

    @Test func aRunPassesByProxyCommandByJumpHostsWithAnAgentsKeyAndCompressed() async throws {
        try await TestFarm.with(slots: 1) { farm in
            // A proxy command: a relay that notes where it was sent.
            try await with("proxied", farm) { host in
                let note = "\(farm.root)/note"
                let relay = "echo %h %p %r > \(note); exec bash -c 'exec 3<>/dev/tcp/%h/%p; cat <&3 & cat >&3'"
                try await enrolled(host, ["--identity", host.ssh.identityFile, "--proxy-command", relay], farm)
                let run = try await run(on: host, farm)
                #expect(run.verdict == .passed && run.attempts.last?.slot == "proxied-1")
                let words = try String(contentsOfFile: note, encoding: .utf8)
                #expect(words == "127.0.0.1 \(host.ssh.port) \(host.ssh.user)\n")
                #expect(try await farm.tryBerth(["doctor", "proxied"]).termination == .exited(0))
            }

            // A jump host, which lets the same key in for forwarding only.
            try await with("hidden", farm) { host in
                let folder = "\(farm.root)/gate"
                try DurableFile.makeFolder(folder)
                let gate = try await TestSSHServer(directory: folder, forcedCommand: "false")
                try await gate.start()
                let key = try String(contentsOfFile: host.ssh.identityFile + ".pub", encoding: .utf8)
                try Data("restrict,port-forwarding \(key)".utf8)
                    .write(to: URL(fileURLWithPath: folder + "/authorized_keys"))
                let hop = "\(gate.user)@127.0.0.1:\(gate.port)=\(folder)/host_key.pub"
                try await enrolled(host, ["--identity", host.ssh.identityFile, "--jump", hop], farm)
                let run = try await run(on: host, farm)
                #expect(run.verdict == .passed && run.attempts.last?.slot == "hidden-1")
                #expect(gate.log.contains("Accepted publickey"))
                #expect(try await farm.tryBerth(["doctor", "hidden"]).termination == .exited(0))
                await gate.stop()
            }

            // A key that no file on the coordinator's machine has.
            try await with("agented", farm) { host in
                let agent = try await TestSSHAgent(folder: farm.root)
                try await agent.add(host.ssh.identityFile)
                try FileManager.default.removeItem(atPath: host.ssh.identityFile)
                try await enrolled(
                    host,
                    ["--agent-key", host.ssh.identityFile + ".pub", "--agent-socket", agent.socket],
                    farm
                )
                let run = try await run(on: host, farm)
                #expect(run.verdict == .passed && run.attempts.last?.slot == "agented-1")
                #expect(try await farm.tryBerth(["doctor", "agented"]).termination == .exited(0))
                await agent.stop()
                let gone = try await farm.tryBerth(["doctor", "agented"])
                #expect(gone.termination == .exited(1) && gone.outputText.contains("login-key"), "\(gone.outputText)")
            }

            // Compression, as the host's sshd sees it.
            try await with("packed", farm, extraConfiguration: ["LogLevel DEBUG1"]) { host in
                try await enrolled(host, ["--identity", host.ssh.identityFile, "--compression"], farm)
                let run = try await run(on: host, farm)
                #expect(run.verdict == .passed && run.attempts.last?.slot == "packed-1")
                for direction in ["client->server", "server->client"] {
                    let line = host.ssh.log.split(separator: "\n").first { $0.contains("kex: \(direction) cipher") }
                    #expect(line?.contains("compression: zlib@openssh.com") == true, "\(host.ssh.log)")
                }
                #expect(host.ssh.log.contains("Enabling compression at level"), "\(host.ssh.log)")
                let hosts = try await farm.json([HostView].self, ["host", "list"])
                #expect(hosts.first { $0.host.name == "packed" }?.host.compression == true)
            }

            // A host that has no compression is served without, and that is said.
            try await with("plain", farm, extraConfiguration: ["Compression no"]) { host in
                try await enrolled(host, ["--identity", host.ssh.identityFile, "--compression"], farm)
                let doctor = try await farm.tryBerth(["doctor", "plain"])
                #expect(doctor.termination == .exited(1), "\(doctor.outputText)")
                #expect(doctor.outputText.hasSuffix("\nProblems of plain: compression\n"), "\(doctor.outputText)")
            }
        }
    }
}
