import BerthSystem

/// Making, copying, emptying and removing devices.
struct DeviceVerbs {
    let set: DeviceSet

    func create(_ arguments: Arguments) throws {
        let names = try arguments.positional(2...3)
        guard let type = DeviceType.named(names[1]) else {
            throw arguments.usageError("Invalid device type: \(names[1])")
        }
        let runtimes = RuntimeFolder()
        let runtime: Runtime
        if names.count == 3 {
            guard let known = try runtimes.runtimes().first(where: { [$0.identifier, $0.name].contains(names[2]) })
            else { throw arguments.usageError("Invalid runtime: \(names[2])") }
            runtime = known
        } else {
            guard let newest = try runtimes.runtimes().last else { throw SimulatorError.missingRuntime("iOS") }
            runtime = newest
            StandardStreams.writeError("No runtime specified, using '\(runtime.name) (\(runtime.identifier))'\n")
        }
        let device = try set.create(name: names[0], type: type, runtime: runtime)
        StandardStreams.writeOutput(device.udid + "\n")
    }

    func clone(_ arguments: Arguments) throws {
        let names = try arguments.positional(2...2)
        let clone = try set.clone(set.device(names[0]), name: names[1])
        StandardStreams.writeOutput(clone.udid + "\n")
    }

    func erase(_ arguments: Arguments) throws {
        for device in try devices(arguments) { try set.erase(device) }
    }

    /// A booted device is shut down first.
    func delete(_ arguments: Arguments) throws {
        for device in try devices(arguments) {
            if try device.state() != .shutdown { try SupervisorProcess(set: set, device: device).shutdown() }
            try set.delete(device)
        }
    }

    private func devices(_ arguments: Arguments) throws -> [Device] {
        let names = try arguments.positional(1...Int.max)
        switch names {
        case ["all"]: return try set.devices().map(\.device)
        case ["unavailable"]:
            let runtimes = Set(try RuntimeFolder().runtimes().map(\.identifier))
            return try set.devices().filter { !runtimes.contains($0.record.runtime) }.map(\.device)
        default: return try names.map(set.device)
        }
    }
}
