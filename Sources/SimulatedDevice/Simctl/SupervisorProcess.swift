import BerthSystem
import Foundation

/// Starts the supervisor of a device and ends it.
struct SupervisorProcess {
    let set: DeviceSet
    let device: Device

    /// What of the caller's environment the supervisor needs.
    private static let inherited = [
        "HOME", "PATH", "LD_LIBRARY_PATH", "BERTH_LOG", "BERTH_SIM_RUNTIMES", Supervisor.endWithVariable,
    ]

    /// Boots a device that is shut down; returns when it can be used.
    ///
    /// - Throws: `SimulatorError`
    func boot() throws {
        try device.exclusively {
            let state = try device.settledState()
            guard state == .shutdown else { throw SimulatorError.wrongState("boot device", state) }
            var record = try device.record()
            // Before anything is started, so that a missing runtime is the caller's error.
            _ = try RuntimeFolder().runtime(record.runtime)
            record.state = .booting
            try record.write(to: device.folder.record)
            do {
                try start()
            } catch {
                record.state = .shutdown
                try record.write(to: device.folder.record)
                throw error
            }
        }
    }

    private func start() throws {
        let reader = try spawn()
        var bytes: [UInt8] = []
        while bytes.count < 1 << 16 {
            let part = try reader.read(upTo: 4096)
            if part.isEmpty { break }
            bytes += part
        }
        guard !bytes.isEmpty else {
            throw SimulatorError.hostFailure("The supervisor died at its start; see \(device.folder.supervisorLog)")
        }
        if let error = try JSONDecoder().decode(Report.self, from: Data(bytes)).error { throw error }
    }

    /// Starts the supervisor and gives the pipe from which its report is read. The other end must not stay open here,
    /// or the end of a supervisor that dies would never be seen.
    private func spawn() throws -> FileDescriptor {
        let environment = ProcessInfo.processInfo.environment
        try DurableFile.makeFolder(device.folder.logs)
        let (reader, writer) = try FileDescriptor.pipe()
        let specification = ProcessSpecification(
            executable: try Self.executable(),
            arguments: ["supervise", "--set", set.path, "--ready", "\(writer.number)", device.udid],
            argumentZero: "berth-sim",
            environment: environment.filter { Self.inherited.contains($0.key) },
            workingDirectory: "/",
            standardOutput: .appendingFile(device.folder.supervisorLog),
            standardError: .appendingFile(device.folder.supervisorLog),
            inheritedDescriptors: [writer.number],
            newSession: true
        )
        try withExtendedLifetime(writer) { _ = try ChildProcess.spawn(specification) }
        return reader
    }

    /// What the supervisor says when it is ready or cannot be.
    struct Report: Codable {
        var error: SimulatorError?
    }

    /// This program, under its real name.
    static func executable() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    /// Shuts a booted device down; returns when its supervisor has ended.
    ///
    /// - Throws: `SimulatorError`
    func shutdown() throws {
        try device.exclusively {
            let state = try device.settledState()
            guard state == .booted || state == .shuttingDown else {
                throw SimulatorError.wrongState("shutdown device", state)
            }
            _ = try? ControlClient(device).ask(.shutdown)
            let end = ContinuousClock.now + .seconds(30)
            while try device.isSupervised() || device.settledState() != .shutdown {
                guard ContinuousClock.now < end else {
                    throw SimulatorError.hostFailure(
                        "The supervisor of \(device.udid) does not end; see \(device.folder.supervisorLog)"
                    )
                }
                usleep(5_000)
            }
        }
    }
}
