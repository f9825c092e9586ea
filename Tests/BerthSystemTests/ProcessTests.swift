import BerthSystem
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ProcessTests {
    @Test func aCommandIsJudgedByItsOwnEndNotItsGrandchildren() async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/bin/sh",
                arguments: ["-c", "sleep 30 & echo out; echo err >&2; exit 7"]
            ),
            timeout: .seconds(20)
        )
        #expect(result.termination == .exited(7))
        #expect(result.outputText == "out\n" && result.errorText == "err\n")
        #expect(!result.timedOut && !result.outputEnded)
    }

    @Test func theTimeLimitEndsTheWholeGroup() async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(executable: "/bin/sh", arguments: ["-c", "sleep 1000 & echo $!; wait"]),
            timeout: .milliseconds(300)
        )
        #expect(result.timedOut)
        let grandchild = try #require(Int32(result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)))
        let deadline = ContinuousClock.now + .seconds(5)
        while isRunning(grandchild), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(10)) }
        #expect(!isRunning(grandchild))
    }

    @Test func nothingLeaksIntoAChild() async throws {
        let secret = try FileDescriptor(path: "/dev/null", flags: O_RDONLY)
        _ = fcntl(secret.number, F_SETFD, 0)
        signal(SIGPIPE, SIG_IGN)
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "/bin/sh",
                arguments: ["-c", "ls /proc/self/fd | wc -l; grep -E 'SigBlk|SigIgn' /proc/self/status; env"],
                environment: ["ONLY": "this", "PATH": "/bin:/usr/bin"]
            ),
            timeout: .seconds(10)
        )
        let lines = result.outputText.split(separator: "\n")
        // Standard streams and the folder that ls itself opens.
        #expect(lines.first?.trimmingCharacters(in: .whitespaces) == "4")
        #expect(result.outputText.contains("SigBlk:\t0000000000000000"))
        // glibc itself ignores its two internal signals, 32 and 33, in every child.
        let ignored = try #require(lines.first { $0.hasPrefix("SigIgn:") }?.suffix(16))
        #expect(try #require(UInt64(ignored, radix: 16)) & 0x7fff_ffff == 0)
        #expect(lines.contains("ONLY=this") && !result.outputText.contains("HOME="))
    }

    /// This process must not hold the command's streams open itself.
    @Test func aFinishedCommandEndsItsStreams() async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(executable: "/bin/cat"),
            input: Array("text".utf8),
            timeout: .seconds(50)
        )
        #expect(result.outputText == "text" && result.outputEnded && !result.timedOut)
    }

    @Test func outputOverTheLimitIsCutAndTheCommandGoesOn() async throws {
        let result = try await CommandRunner.run(
            ProcessSpecification(executable: "/bin/sh", arguments: ["-c", "head -c 3000000 /dev/zero; exit 3"]),
            timeout: .seconds(10),
            outputLimit: 1000
        )
        #expect(result.termination == .exited(3) && result.truncated && result.output.count == 1000)
    }

    @Test func aMissingProgramIsNamed() async {
        await #expect(throws: SystemError.self) {
            try await CommandRunner.run(ProcessSpecification(executable: "/no/such"), timeout: .seconds(1))
        }
    }

    private func isRunning(_ process: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return !text.contains(") Z ")
    }
}
