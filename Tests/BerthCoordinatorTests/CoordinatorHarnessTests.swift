import BerthCoordinator
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// A coordinator lets itself be broken by the fault harness alone.
struct CoordinatorHarnessTests {
    @Test(arguments: ["LOSSY_DISK", "NO_SYNC", "CLOCK"])
    func aHookIsRefusedOutsideTheHarness(_ name: String) {
        for harness in [nil, "0", "true"] {
            var environment = ["BERTH_HOOK_\(name)": "1"]
            environment["BERTH_FAULT_HARNESS"] = harness
            #expect {
                try CoordinatorHarness.begin(environment)
            } throws: { error in
                error is CoordinatorHarness.Refusal && "\(error)".contains("BERTH_HOOK_\(name)")
            }
        }
    }

    @Test func anAgentsHookIsNoneOfACoordinator() {
        #expect(throws: CoordinatorHarness.Refusal.self) {
            try CoordinatorHarness.begin(["BERTH_HOOK_NO_FENCING": "1", "BERTH_FAULT_HARNESS": "1"])
        }
    }

    @Test func theProgramEndsWithUsage() async throws {
        let folder = try TemporaryDirectory()
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: "\(products)/berth-coordinator",
                arguments: ["serve", "--data", folder.path + "/data", "--listen", "127.0.0.1:0"],
                environment: ["BERTH_HOOK_NO_SYNC": "1"]
            ),
            timeout: .seconds(20)
        )
        #expect(result.termination == .exited(64) && result.errorText.contains("BERTH_HOOK_NO_SYNC"))
        #expect(access(folder.path + "/data", F_OK) != 0, "nothing is made before the hooks are looked at")
    }
}
