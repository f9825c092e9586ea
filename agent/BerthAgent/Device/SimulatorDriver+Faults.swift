import BerthCore
import BerthSystem

// Only the simulated device of a Linux host can make keychain calls fail: Apple's simulator has no such thing.
extension SimulatorDriver {
    package var features: [String] {
        facts.platform == .linuxSimulated ? [SlotFeature.keychainFaults, SlotFeature.reboot] : [SlotFeature.reboot]
    }

    package func inject(_ fault: KeychainFault, on device: PreparedDevice) async throws {
        _ = try await callFault(
            device,
            [
                "--call", fault.call.rawValue, "--status", "\(fault.status)", "--times", "\(fault.times)",
                "--after", "\(fault.after)",
            ]
        )
    }

    package func clearFaults(on device: PreparedDevice) async throws -> Int {
        let result = try await callFault(device, ["--clear"])
        guard let left = Int(result.outputText.filter { !$0.isWhitespace }) else {
            throw DeviceToolError(
                .unreadable,
                verb: "fault",
                details: "it did not say how many failures were left: \(result.outputText.prefix(200).debugDescription)"
            )
        }
        return left
    }

    private func callFault(_ device: PreparedDevice, _ arguments: [String]) async throws -> CommandResult {
        let limit = simctl.limits.list
        let result = try await simctl.xcrun.callBehind(
            "berth-sim",
            ["fault", device.udid, "--set", simctl.set] + arguments,
            limit: limit
        )
        if let error = DeviceToolError.classify(verb: "fault", result, limit: limit) { throw error }
        return result
    }
}
