import Foundation
import Testing

@testable import SimulatedDevice

/// Keychain calls that fail because a test asked for it.
@Suite(.timeLimit(.minutes(1)))
struct KeychainFaultTests {
    @Test("A fault strikes calls of its kind only, after those that it lets through, and as often as it says")
    func strikes() {
        let faults = KeychainFaults()
        faults.arm(KeychainFault(call: "add", status: -25291, times: 2, after: 1))
        faults.arm(KeychainFault(call: "copy", status: -34018, times: 1, after: 0))
        let answers = ["add", "copy", "add", "copy", "update", "add", "add"].map {
            faults.strike($0, bundle: "app")?.rawValue
        }
        #expect(answers == [nil, -34018, -25291, nil, nil, -25291, nil])
        faults.arm(KeychainFault(call: "delete", status: -50, times: 3, after: 0))
        #expect(faults.strike("delete", bundle: "app")?.rawValue == -50)
        #expect(faults.clear() == 2)
        #expect(faults.strike("delete", bundle: "app") == nil)
    }

    @Test("Faults end with the boot; what cannot be injected is refused and changes nothing")
    func command() async throws {
        let simulator = try SimulatorFixture()
        let udid = try await simulator.bootedDevice()
        func fault(_ arguments: String...) async throws -> SimulatorFixture.Answer {
            try await simulator.berthSim(["fault", "--set", simulator.set, udid] + arguments)
        }
        #expect(try await fault("--call", "add", "--status", "-25291", "--times", "3").exit == 0)
        for wrong in [["--call", "read", "--status", "-1"], ["--call", "add", "--status", "0"], ["--call", "add"]] {
            let answer = try await simulator.berthSim(["fault", "--set", simulator.set, udid] + wrong)
            #expect(answer.exit == 64 && answer.error.contains("usage"))
        }
        #expect(try await fault("--clear").line == "3")
        #expect(try await fault("--call", "delete", "--status", "-25291").exit == 0)
        #expect(try await simulator.simctl("shutdown", udid).exit == 0)
        #expect(try await fault("--call", "add", "--status", "-1").error.contains("Shutdown"))
        #expect(try await simulator.simctl("boot", udid).exit == 0)
        #expect(try await fault("--clear").line == "0")
        let log = try String(contentsOfFile: "\(simulator.set)/\(udid)/logs/supervisor.log", encoding: .utf8)
        #expect(log.contains("Fault armed") && log.contains("add answers -25291"))
    }
}
