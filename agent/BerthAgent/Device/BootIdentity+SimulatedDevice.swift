import BerthCore
import BerthSystem

extension BootIdentity {
    /// What `berth-sim device-info` prints.
    private struct Information: Decodable {
        struct Runtime: Decodable {
            let version: String
            let build: String
        }

        let bootID: String?
        let state: String
        let runtime: Runtime
    }

    static func askSimulatedDevice(_ udid: String, _ tool: SimulatorTool) async throws -> Facts {
        let result = try await tool.xcrun.callBehind(
            "berth-sim",
            ["device-info", udid, "--set", tool.set],
            limit: tool.limits.list
        )
        let information: Information
        do {
            information = try CanonicalJSON.decode(Information.self, from: result.output, document: "device-info")
        } catch {
            throw DeviceToolError(.unreadable, verb: "device-info", details: "\(error)")
        }
        guard let bootID = information.bootID else {
            throw DeviceToolError(.wrongState, verb: "device-info", details: "the device is \(information.state)")
        }
        return Facts(bootID: bootID, os: OSPin(version: information.runtime.version, build: information.runtime.build))
    }
}
