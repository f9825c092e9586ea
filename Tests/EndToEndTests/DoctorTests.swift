import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// `berth doctor` against a real sshd, in which one thing after the other is broken.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct DoctorTests {
    /// Examines the host.
    /// - Returns: the exit status and the checks by name.
    private func examine(_ farm: TestFarm) async throws -> (status: Termination, checks: [String: DoctorCheck]) {
        let result = try await farm.tryBerth(["doctor", "test-host", "--json"])
        let report = try CanonicalJSON.decode(DoctorReport.self, from: result.output, document: result.errorText)
        #expect(Set(report.checks.map(\.name)).count == report.checks.count, "\(report.checks)")
        return (result.termination, Dictionary(report.checks.map { ($0.name, $0) }) { first, _ in first })
    }

    /// Expects one thing to be wrong, with words in what was found and in what to do.
    private func expect(
        _ name: String,
        _ farm: TestFarm,
        found: String,
        advice: String,
        also: Set<String> = [],
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let (status, checks) = try await examine(farm)
        let check = checks[name]
        #expect(status == .exited(1), sourceLocation: location)
        #expect(check?.state == .problem, "\(checks)", sourceLocation: location)
        #expect(check?.measured.contains(found) == true, "\(checks)", sourceLocation: location)
        #expect(check?.advice?.contains(advice) == true, "\(checks)", sourceLocation: location)
        let others = Set(checks.values.filter { $0.state == .problem }.map(\.name)).subtracting([name, "connection"])
        #expect(others == also, "\(checks)", sourceLocation: location)
    }

    private func authorize(_ options: String, _ farm: TestFarm) throws {
        let server = farm.ssh
        let key = try String(contentsOfFile: server.identityFile + ".pub", encoding: .utf8)
        try Data((options + key).utf8).write(to: URL(fileURLWithPath: server.directory + "/authorized_keys"))
    }

    private func forced(_ farm: TestFarm, cache: String? = nil, by prefix: String = "") -> String {
        let attach = "\(prefix)\(TestFarm.products)/berth-agent attach --sockets \(farm.root)/sockets"
        return "restrict,command=\"\(attach) --cache \(cache ?? "\(farm.root)/cache")\" "
    }

    @Test func whatIsWrongOnAHostIsNamedWithWhatToDoAndAHealthyHostIsFine() async throws {
        try await TestFarm.with(slots: 2) { farm in
            let (status, checks) = try await examine(farm)
            #expect(status == .exited(0))
            #expect(checks.values.allSatisfy { $0.state == .ok }, "\(checks)")
            #expect(
                Set(checks.keys) == [
                    "reach", "key-exchange", "host-key", "login-key", "login", "forced-command", "shell",
                    "agent-bridge", "protocol", "agents", "clock", "disk", "sshd-limits", "connection",
                ]
            )
            #expect(checks["reach"]?.measured.contains("SSH-2.0-OpenSSH") == true)
            #expect(checks["agents"]?.measured == "running: sim-1, sim-2")
            #expect(checks["sshd-limits"]?.measured.contains("maxstartups 200") == true, "\(checks)")
            let text = try await farm.berth(["doctor", "test-host"])
            #expect(text.hasSuffix("\nAll is well with test-host.\n"), "\(text)")
            let unknown = try await farm.tryBerth(["doctor", "elsewhere"])
            #expect(unknown.termination == .exited(65) && unknown.errorText.contains("there are test-host"))
            // Nobody's channel was taken.
            let batch = try await farm.submit(new: ["correct"], cases: ["update"])
            #expect(try await farm.waitUntilFinished(batch.id).map(\.verdict) == [.passed])

            let startUp = farm.ssh.directory + "/home/.bashrc"
            try Data("echo Welcome to the machine\n".utf8).write(to: URL(fileURLWithPath: startUp))
            try await expect("shell", farm, found: "Welcome to the machine", advice: "print nothing")
            try Data("sleep 4\n".utf8).write(to: URL(fileURLWithPath: startUp))
            try await expect("shell", farm, found: "first frame after", advice: "what is slow")
            try FileManager.default.removeItem(atPath: startUp)

            try authorize("", farm)
            try await expect(
                "forced-command",
                farm,
                found: "no forced command",
                advice: "restrict,command=",
                also: ["agent-bridge"]
            )
            try authorize("restrict,command=\"/nowhere/berth-agent attach\" ", farm)
            try await expect("agent-bridge", farm, found: "exit status 127", advice: "check the path of berth-agent")
            try authorize("from=\"192.0.2.1\" ", farm)
            try await expect("login", farm, found: "does not let user", advice: "authorized_keys of")

            try authorize(forced(farm, by: "LD_PRELOAD=\(try await slowClock(farm)) "), farm)
            try await expect("clock", farm, found: "-7", advice: "time service")
            if SmallDisk.isPossible {
                let disk = try SmallDisk(at: farm.root + "/small", megabytes: 4)
                defer { disk.unmount() }
                try authorize(forced(farm, cache: disk.path), farm)
                try await expect("disk", farm, found: "of 4 MB free", advice: "make room at \(disk.path)")
            }
            try authorize(forced(farm), farm)

            await farm.killAgent("sim-2")
            try await expect("agents", farm, found: "sim-2: nobody listens", advice: "berth-agent serve --slot sim-2")
            try FileManager.default.removeItem(atPath: farm.root + "/sockets/sim-2.sock")
            try await expect("agents", farm, found: "sim-2: no socket in", advice: "berth-agent serve --slot sim-2")
            let old = try UnixListener(path: farm.root + "/sockets/sim-2.sock")
            defer { old.shutdown() }
            Self.refuseEverybody(old)
            try await expect("agents", farm, found: "speaks protocol versions 7 to 9", advice: "restart slot sim-2")
        }
    }

    @Test func whatIsWrongOnTheWayToAHostIsNamed() async throws {
        try await TestFarm.with(slots: 1) { farm in
            let server = farm.ssh
            func restart(_ configuration: String) async throws {
                await server.stop()
                let file = URL(fileURLWithPath: server.directory + "/sshd_config")
                try Data(configuration.utf8).write(to: file)
                try await server.start()
                try await farm.waitForIdleSlots(1)
            }
            let standard = try String(contentsOfFile: server.directory + "/sshd_config", encoding: .utf8)
            try await restart(standard.replacing("MaxStartups 200", with: "MaxStartups 2:50:3"))
            try await expect("sshd-limits", farm, found: "MaxStartups 2:50:3", advice: "MaxStartups 10:30:100")
            try await restart(standard)

            let before = try server.hostKeyLine
            await server.stop()
            try await expect("reach", farm, found: "refuses connections", advice: "start sshd")
            try await server.replaceHostKey()
            try await server.start()
            try await expect("host-key", farm, found: "pinned ssh-ed25519", advice: "berth host trust test-host")
            #expect(try server.hostKeyLine != before)

            // The host was given a key that only RSA with SHA-1 could prove to this coordinator.
            await server.stop()
            for suffix in ["", ".pub"] {
                try FileManager.default.removeItem(atPath: server.directory + "/host_key\(suffix)")
            }
            try await TestSSHServer.makeKey(server.directory + "/host_key", type: ["-t", "rsa"])
            try await server.start()
            try await expect("key-exchange", farm, found: "RSA keys only", advice: "ssh-keygen -A")
            await server.stop()

            // Somebody listens there and says nothing.
            let silent = try LoopbackListener()
            try await enrol(farm, "silent", "127.0.0.1:\(silent.port)")
            let quiet = try await farm.tryBerth(["doctor", "silent"])
            #expect(quiet.termination == .exited(1))
            #expect(quiet.outputText.contains("sends no SSH greeting within 8.0 seconds"), "\(quiet.outputText)")
            try await enrol(farm, "nameless", "no-such-host.invalid:22")
            let nameless = try await farm.tryBerth(["doctor", "nameless"])
            #expect(nameless.termination == .exited(1))
            #expect(nameless.outputText.contains("the name no-such-host.invalid is not known"))
        }
    }

    private func enrol(_ farm: TestFarm, _ name: String, _ address: String) async throws {
        try await farm.berth([
            "host", "add", name, "--address", address, "--user", "farm", "--identity", farm.ssh.identityFile,
            "--host-key",
            try farm.ssh.hostKeyLine.trimmingCharacters(in: .newlines)
                .replacing(/^ssh-rsa.*/, with: Self.someKey),
        ])
    }

    private static let someKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"

    /// Plays an agent of other protocol versions, as one answers.
    private static func refuseEverybody(_ listener: UnixListener) {
        Threads.detach(name: "odd agent") {
            while let connection = try? listener.accept() {
                guard (try? connection.read(upTo: 1 << 12)) != nil else { continue }
                let closing = Closing(reason: "versions", versions: ProtocolVersions(lowest: 7, highest: 9))
                guard let frame = try? HostMessage.closing(closing).frame(route: "sim-2") else { return }
                try? connection.write(frame.bytes)
                connection.shutdown()
            }
        }
    }

    /// A library that sets a program's wall clock back by two hours.
    private func slowClock(_ farm: TestFarm) async throws -> String {
        let source = try farm.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <time.h>
            #include <sys/time.h>
            int clock_gettime(clockid_t clock, struct timespec *time) {
                int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
                int code = real(clock, time);
                if (code == 0 && clock == CLOCK_REALTIME) time->tv_sec -= 7200;
                return code;
            }
            int gettimeofday(struct timeval *time, void *zone) {
                struct timespec now;
                int code = clock_gettime(CLOCK_REALTIME, &now);
                time->tv_sec = now.tv_sec;
                time->tv_usec = now.tv_nsec / 1000;
                return code;
            }

            """,
            to: "clock.c"
        )
        let library = farm.root + "/clock.so"
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/usr/bin/env",
                arguments: ["clang", "-shared", "-fPIC", "-o", library, source],
                environment: TestFarm.environment
            ),
            timeout: .seconds(60)
        )
        try #require(result.termination == .exited(0), "\(result.errorText)")
        return library
    }
}
