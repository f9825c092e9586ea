import BerthCore

extension BootIdentity {
    static func askAppleSimulator(_ udid: String, _ tool: SimulatorTool) async throws -> Facts {
        let list = try await tool.list()
        guard let (runtime, device) = list.device(udid) else {
            throw DeviceToolError(.deviceUnknown, verb: "list", details: "\(udid) is not in \(tool.set)")
        }
        guard device.isBooted else {
            throw DeviceToolError(.wrongState, verb: "list", details: "the device is \(device.state)")
        }
        guard let bootID = device.lastBootedAt ?? device.lastUsedAt,
            let os = list.runtimes?.first(where: { $0.identifier == runtime })?.os
        else {
            throw DeviceToolError(
                .unreadable,
                verb: "list",
                details: "it says neither when \(udid) was booted nor which build \(runtime) is"
            )
        }
        return Facts(bootID: bootID, os: os)
    }
}
