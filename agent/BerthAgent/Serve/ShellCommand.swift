import BerthCore
import BerthSystem
import Foundation

/// `berth-agent shell`: a person's manual work on a slot's device, under the very lock that its agent holds otherwise.
/// The process takes the lock and becomes the shell, so the lock lives exactly as long as the shell and its children.
package enum ShellCommand {
    private static let interval: Duration = .milliseconds(50)

    /// Takes the lock and becomes the shell; returns only by an error.
    /// - Throws: `AgentFailure`, with status `deviceHeld` when somebody else has the device
    package static func run(_ arguments: some Sequence<String>) async throws {
        let arguments = try CommandArguments(
            arguments,
            known: ["--state", "--device", "--wait"],
            flags: ["--yield"]
        )
        let state = ServeOptions.absolute(try arguments.required("--state"))
        let patience = try arguments.number("--wait", in: 0...86_400, default: 600)
        let places = try SlotFile(state: state).places
        let lock = try await take(places, yields: arguments.has("--yield"), patience: .seconds(patience))
        let device = arguments.optional("--device") ?? newestDevice(places)
        say(greeting(places, device: device))
        try become(places, device: device, lock: lock)
    }

    // MARK: The lock

    private static func take(_ places: SlotPlaces, yields: Bool, patience: Duration) async throws -> FileLock {
        guard let own = ProcessIdentity(running: getpid()) else {
            throw AgentFailure(.disk, "the kernel says nothing about process \(getpid())")
        }
        let order = ShellOrder(state: places.state)
        if yields {
            if let other = order.standing, other.process != own {
                throw AgentFailure(
                    .deviceHeld,
                    "\(other.user) (\(other.process)) has asked for the device of \(places.slot) before; end that shell first"
                )
            }
            try order.give(ShellOrder.Order(process: own, user: NSUserName()))
        }
        let deadline = ContinuousClock.now + patience
        var hasTold = false
        while true {
            do {
                return try FileLock.acquire(
                    path: places.lock,
                    holder: DeviceLock.holderLine(slot: places.slot, isManual: true)
                )
            } catch FileLockError.held(_, let line) {
                guard yields else {
                    throw AgentFailure(
                        .deviceHeld,
                        "the device of \(places.slot) is held: \(line); lock: \(places.lock); with --yield a serving agent "
                            + "lets go of it as soon as it is idle"
                    )
                }
                guard ContinuousClock.now < deadline else {
                    order.withdraw()
                    throw AgentFailure(
                        .deviceHeld,
                        "the device of \(places.slot) is still held after \(patience.components.seconds) s: \(line)"
                    )
                }
                if !hasTold { say("Waiting until \(places.slot) is idle; held by \(line)\n") }
                hasTold = true
                try await Task.sleep(for: interval)
            }
        }
    }

    // MARK: The shell

    /// What is most likely to be looked at: the phone, or the simulator that was preserved last.
    private static func newestDevice(_ places: SlotPlaces) -> String? {
        if let phone = places.phone { return phone }
        let preserved = try? PreservedDevices(folder: places.state + "/preserved")
        return preserved?.all().max { $0.since < $1.since }?.udid
    }

    private static func greeting(_ places: SlotPlaces, device: String?) -> String {
        var text = "The device of \(places.slot) is yours until this shell and all that it started have ended.\n"
        if places.deviceSet != nil {
            text += "  xcrun simctl --set \"$BERTH_DEVICE_SET\" list devices\n"
            if device != nil { text += "  xcrun simctl --set \"$BERTH_DEVICE_SET\" boot \"$BERTH_UDID\"\n" }
            text += "Shut down what you boot: xcrun simctl --set \"$BERTH_DEVICE_SET\" shutdown all\n"
        } else {
            text += "  xcrun devicectl device info details --device \"$BERTH_UDID\"\n"
        }
        return text
    }

    private static func become(_ places: SlotPlaces, device: String?, lock: FileLock) throws {
        var environment = ProcessInfo.processInfo.environment
        environment.merge(places.environment ?? [:]) { _, slots in slots }
        let tools = (places.xcrun as NSString).deletingLastPathComponent
        environment["PATH"] = "\(tools):\(environment["PATH"] ?? "/usr/bin:/bin:/usr/sbin:/sbin")"
        environment["BERTH_SLOT"] = places.slot
        environment["BERTH_STATE"] = places.state
        environment["BERTH_DEVICE_SET"] = places.deviceSet
        environment["BERTH_UDID"] = device
        let shell = environment["SHELL"].flatMap { $0.isEmpty ? nil : $0 } ?? "/bin/sh"
        let error = lock.becomeProgram(shell, environment: environment)
        throw AgentFailure(.usage, "\(error); SHELL must name a program")
    }

    private static func say(_ text: String) { StandardStreams.writeError(text) }
}
