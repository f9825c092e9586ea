import BerthAgent
import BerthSystem
import Foundation
import Testing

/// An agent lets itself be broken by the fault harness alone.
struct HarnessHookTests {
    private static let names = [
        "NO_FENCING", "LEASE_MARGIN", "LOSSY_DISK", "NO_SYNC", "CLOCK", "DWELL",
    ]

    @Test(arguments: names)
    func aHookIsRefusedOutsideTheHarness(_ name: String) throws {
        for harness in [nil, "0", "true"] {
            var environment = ["BERTH_HOOK_\(name)": "1"]
            environment["BERTH_FAULT_HARNESS"] = harness
            #expect {
                _ = try HarnessHooks(environment)
            } throws: { error in
                (error as? AgentFailure)?.status == .usage && "\(error)".contains("BERTH_HOOK_\(name)")
            }
        }
        _ = try HarnessHooks(["BERTH_HOOK_\(name)": "1", "BERTH_FAULT_HARNESS": "1"])
    }

    @Test(arguments: ["BERTH_HOOK_NO_SUCH": "1", "BERTH_HOOK_LEASE_MARGIN": "91", "BERTH_HOOK_DWELL": "long"])
    func anUnknownHookAndABadValueAreRefusedInTheHarness(_ name: String, _ value: String) {
        #expect(throws: AgentFailure.self) {
            _ = try HarnessHooks([name: value, "BERTH_FAULT_HARNESS": "1"])
        }
    }

    @Test func nothingIsBrokenByItself() throws {
        for environment in [[:], ["BERTH_FAULT_HARNESS": "1"]] {
            let hooks = try HarnessHooks(environment)
            #expect(!hooks.ignoresFencing && hooks.leaseMargin == 20 && hooks.dwell == nil)
            #expect(hooks.isHarness == !environment.isEmpty)
        }
    }

    @Test func theProgramEndsWithUsage() async throws {
        let words = ["serve", "--slot", "s", "--state", "/nowhere", "--sockets", "/nowhere", "--cache", "/nowhere"]
        func run(_ arguments: [String], _ environment: [String: String]) async throws -> CommandResult {
            try await CommandRunner.run(
                ProcessSpecification(
                    executable: Products.path("berth-agent"),
                    arguments: words + arguments,
                    environment: environment
                ),
                timeout: .seconds(20)
            )
        }
        let hook = try await run([], ["BERTH_HOOK_NO_FENCING": "1"])
        #expect(hook.termination == .exited(64) && hook.errorText.contains("BERTH_HOOK_NO_FENCING"))
        let standIn = try await run(["--kind", "stand-in", "--device", "/nowhere"], [:])
        #expect(standIn.termination == .exited(64) && standIn.errorText.contains("stand-in"))
    }
}
