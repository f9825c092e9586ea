import BerthCore
import BerthSystem
import Foundation

/// Waits for what comes of a launch: the status file, the end of the process, or the time limit.
struct LaunchWatch {
    /// Most bytes that an app may write to one of its outputs before it is ended.
    static let outputLimit: Int64 = 16 << 20

    let driver: any DeviceDriver
    let device: PreparedDevice
    let app: LaunchedApp
    /// The status file's name that the launch must use.
    let expected: String
    /// Files of this host with the app's output.
    let outputs: [String]
    let limit: Duration

    /// - Returns: the observation, and the bytes of the status file if one was read.
    /// - Throws: `DeviceToolError`, `CancellationError`
    func wait() async throws -> (observation: LaunchObservation, bytes: [UInt8]?) {
        let deadline = ContinuousClock.now + limit
        while true {
            // In this order: a process that writes and ends at once has written when it is seen to be gone.
            let isRunning = try await driver.isRunning(app, on: device)
            if let found = try await look() { return found }
            if !isRunning { return (.ended("process \(app.pid) is gone"), nil) }
            if let output = excessiveOutput() { return (.ended("it was ended for \(output)"), nil) }
            if ContinuousClock.now >= deadline { return (.hung(seconds: Int(limit.components.seconds)), nil) }
            try await Task.sleep(for: driver.pollInterval)
        }
    }

    private func look() async throws -> (LaunchObservation, [UInt8]?)? {
        let look = try await driver.statusFiles(of: app, reading: expected, on: device)
        switch look.finding {
        case .file(let bytes):
            do {
                return (.status(try StatusFile.parse(bytes, name: expected)), bytes)
            } catch {
                return (.malformed(error), bytes)
            }
        case .oversized(let size): return (.oversized(size), nil)
        case .unusable(let problem):
            return (.malformed(FormatError(document: "status file \(expected)", problem: problem)), nil)
        case .nothing:
            let others = look.names.subtracting(app.earlierStatusFiles).subtracting([expected])
            guard let other = others.min() else { return nil }
            let foreign = try await driver.statusFiles(of: app, reading: other, on: device)
            guard case .file(let bytes) = foreign.finding else { return (.unexpectedName(other), nil) }
            return (.unexpectedName(other), bytes)
        }
    }

    private func excessiveOutput() -> String? {
        for path in outputs {
            var status = stat()
            if lstat(path, &status) == 0, Int64(status.st_size) > Self.outputLimit {
                return "writing more than \(Self.outputLimit >> 20) MiB to one of its outputs"
            }
        }
        return nil
    }
}
