import BerthCore
import Foundation

/// What `berth-agent serve` was asked for.
package struct ServeOptions: Sendable {
    package let slot: String
    /// The slot's state folder.
    package let state: String
    /// Folder of the host's agents' sockets.
    package let sockets: String
    /// The host's blob cache, shared by its slots.
    package let cache: String
    /// Absolute path of `xcrun`.
    package let xcrun: String
    /// How long a launch may take to write its status file.
    package let statusTimeout: Duration
    package let device: Device

    /// What the slot's device is to be.
    package enum Device: Sendable {
        case simulator(SimulatorDriver.Wish, preservedLimit: Int)
        /// A phone, and the host's folder of phones' locks.
        case hardware(DevicectlDriver.Wish, locks: String)
        /// A device of the fault harness, by its folder.
        case standIn(folder: String)
    }

    private static let common = ["--slot", "--state", "--sockets", "--cache", "--kind", "--xcrun", "--status-timeout"]
    private static let ofSimulators = ["--device-type", "--runtime", "--preserved-limit"]
    private static let ofHardware = ["--device", "--hold-minutes", "--locks"]

    /// - Throws: `AgentFailure` of status `usage`
    package init(_ arguments: some Sequence<String>) throws {
        let arguments = try CommandArguments(arguments, known: Self.common + Self.ofSimulators + Self.ofHardware)
        slot = try arguments.required("--slot")
        guard SlotName.isValid(slot) else {
            throw AgentFailure(
                .usage,
                "\(slot.debugDescription) is no slot name: letters, digits, dot, dash and underscore, at most 64"
            )
        }
        state = Self.absolute(try arguments.required("--state"))
        sockets = Self.absolute(try arguments.required("--sockets"))
        cache = Self.absolute(try arguments.required("--cache"))
        xcrun = Self.absolute(arguments.optional("--xcrun") ?? "/usr/bin/xcrun")
        statusTimeout = .seconds(try arguments.number("--status-timeout", in: 1...3600, default: 60))
        device = try Self.device(arguments, statusTimeout: statusTimeout)
    }

    /// The private device set of a slot with simulators.
    var deviceSet: String { state + "/devices" }

    private static func device(_ arguments: CommandArguments, statusTimeout: Duration) throws -> Device {
        let text = arguments.optional("--kind") ?? DeviceKind.simulator.rawValue
        if text == Platform.standIn.rawValue {
            return .standIn(folder: absolute(try arguments.required("--device")))
        }
        guard let kind = DeviceKind(rawValue: text) else {
            throw AgentFailure(.usage, "--kind \(text): there are simulator and hardware")
        }
        let foreign = kind == .simulator ? ofHardware : ofSimulators
        if let option = foreign.first(where: { arguments.optional($0) != nil }) {
            throw AgentFailure(.usage, "\(option) does not go with --kind \(kind.rawValue)")
        }
        switch kind {
        case .simulator:
            return .simulator(
                SimulatorDriver.Wish(
                    deviceType: arguments.optional("--device-type"),
                    runtime: arguments.optional("--runtime")
                ),
                preservedLimit: try arguments.number("--preserved-limit", in: 1...1000, default: 5)
            )
        case .hardware:
            let udid = try arguments.required("--device")
            // It becomes a part of file names.
            guard SlotName.isValid(udid) else {
                throw AgentFailure(.usage, "--device \(udid.debugDescription) is no hardware UDID")
            }
            let minutes = try arguments.number("--hold-minutes", in: 0...100_000, default: 60)
            let locks = arguments.optional("--locks").map(absolute) ?? standardLocks
            return .hardware(
                DevicectlDriver.Wish(udid: udid, hold: .seconds(minutes * 60), statusTimeout: statusTimeout),
                locks: locks
            )
        }
    }

    /// One fixed folder for each host, as far as its users may share one.
    private static var standardLocks: String {
        if geteuid() == 0 { return "/var/lock/berth" }
        let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        return (temporary as NSString).appendingPathComponent("berth-locks-\(geteuid())")
    }

    /// Paths are kept absolute: a later change of folder must not move them.
    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
