import BerthSystem
import Foundation

/// Booting and shutting down.
struct StateVerbs {
    let set: DeviceSet

    func boot(_ arguments: Arguments) throws {
        let names = try arguments.positional(1...1)
        try SupervisorProcess(set: set, device: set.device(names[0])).boot()
    }

    func shutdown(_ arguments: Arguments) throws {
        let names = try arguments.positional(1...1)
        guard names == ["all"] else {
            return try SupervisorProcess(set: set, device: set.device(names[0])).shutdown()
        }
        for (device, _) in try set.devices() where try device.state() == .booted {
            try SupervisorProcess(set: set, device: device).shutdown()
        }
    }

    /// Says how far a boot is until the device can be used; with -b boots it first if it is shut down.
    func bootstatus(_ arguments: Arguments) throws {
        let names = try arguments.positional(1...1, options: ["-b", "-d", "-c"])
        let device = try set.device(names[0])
        let record = try device.record()
        StandardStreams.writeOutput("Monitoring boot status for \(record.name) (\(record.udid)).\n")
        let start = ContinuousClock.now
        let state = try device.state()
        if state == .booted {
            StandardStreams.writeOutput("Device already booted, nothing to do.\n\n")
            return
        }
        if state == .shutdown, arguments.has("-b") {
            write(
                status: 2,
                since: start,
                ["Waiting on Data Migration", "\tReason:Preparing to migrate", "\tMigration Elapsed:00:00 seconds"]
            )
            do {
                try SupervisorProcess(set: set, device: device).boot()
            } catch let error as SimulatorError where error == .wrongState("boot device", .booted) {
                // Somebody else was faster, which is what was wanted.
            }
        }
        var waiting = false
        while try device.state() != .booted {
            if !waiting { write(status: 4, since: start, ["Waiting on System App"]) }
            waiting = true
            usleep(50_000)
        }
        write(status: UInt32.max, since: start, ["Finished"])
    }

    private func write(status: UInt32, since start: ContinuousClock.Instant, _ lines: [String]) {
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        let date = String(
            format: "%04d-%02d-%02d %02d:%02d:%02d +0000",
            parts.tm_year + 1900,
            parts.tm_mon + 1,
            parts.tm_mday,
            parts.tm_hour,
            parts.tm_min,
            parts.tm_sec
        )
        let elapsed = String(format: "%02d:%02d", seconds / 60, seconds % 60)
        let terminal = status == UInt32.max ? "YES" : "NO"
        StandardStreams.writeOutput(
            "[\(date)] Status=\(status), isTerminal=\(terminal), Elapsed=\(elapsed).\n"
                + lines.map { "\t\($0)\n" }.joined() + "\n"
        )
    }
}
