import BerthCore
import BerthSystem
import Foundation

/// Where a slot lies, in its state folder, for commands that work on the slot beside its agent.
package struct SlotFile: Sendable, Hashable, Codable {
    package let places: SlotPlaces

    private static func path(_ state: String) -> String { state + "/slot.json" }

    package init(places: SlotPlaces) {
        self.places = places
    }

    /// Reads the file of a state folder.
    /// - Throws: `AgentFailure` of status `usage` when no agent has served from the folder yet, `SystemError`,
    ///   `FormatError`
    package init(state: String) throws {
        do {
            let bytes = try DurableFile.read(Self.path(state), limit: 1 << 16)
            self = try CanonicalJSON.decode(SlotFile.self, from: bytes, document: "slot.json")
        } catch let error as SystemError where error.code == ENOENT || error.code == ENOTDIR {
            throw AgentFailure(
                .usage,
                "--state \(state): no agent has served from this folder yet; give the one that `berth-agent serve` has"
            )
        }
    }

    /// - Throws: `SystemError`, `EncodingError`
    package func write() throws {
        try DurableFile.replace(Self.path(places.state), with: try CanonicalJSON.encode(self))
    }
}

extension SlotPlaces {
    /// The places of a slot that is served as asked, with the lock of its device.
    package init(_ options: ServeOptions, lock: String) {
        var deviceSet: String?
        var phone: String?
        switch options.device {
        case .simulator: deviceSet = options.deviceSet
        case .hardware(let wish, _): phone = wish.udid
        case .standIn: break
        }
        let inherited = ProcessInfo.processInfo.environment
        let tools = inherited.filter { $0.key == "DEVELOPER_DIR" || $0.key.hasPrefix("BERTH_SIM_") }
        self.init(
            slot: options.slot,
            machine: ProcessInfo.processInfo.hostName,
            user: NSUserName(),
            agent: Bundle.main.executablePath ?? "berth-agent",
            state: options.state,
            xcrun: options.xcrun,
            lock: lock,
            deviceSet: deviceSet,
            phone: phone,
            environment: tools.isEmpty ? nil : tools
        )
    }
}
