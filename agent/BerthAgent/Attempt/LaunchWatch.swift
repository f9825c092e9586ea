import BerthCore
import BerthSystem
import Foundation

/// Waits for what comes of a launch: the status file, the end of the process, or the time limit.
struct LaunchWatch {
    /// Most bytes that an app may write to one of its outputs before it is ended.
    static let outputLimit: Int64 = 16 << 20
    private static let interval: Duration = .milliseconds(25)

    let folder: StatusFolder
    /// The status file's name that the launch must use.
    let expected: String
    /// Status files of earlier launches.
    let earlier: Set<String>
    let process: ProcessIdentity?
    let pid: Int32
    let outputs: SimulatorDriver.AppOutput
    let limit: Duration

    /// - Returns: the observation, and the bytes of the status file if one was read.
    /// - Throws: `CancellationError`
    func wait() async throws -> (observation: LaunchObservation, bytes: [UInt8]?) {
        let deadline = ContinuousClock.now + limit
        while true {
            // In this order: a process that writes and ends at once has written when it is seen to be gone.
            let isGone = !(process?.isRunning ?? false)
            if let found = look() { return found }
            if isGone { return (.ended("process \(pid) is gone"), nil) }
            if let output = excessiveOutput() { return (.ended("it was ended for \(output)"), nil) }
            if ContinuousClock.now >= deadline { return (.hung(seconds: Int(limit.components.seconds)), nil) }
            try await Task.sleep(for: Self.interval)
        }
    }

    private func look() -> (LaunchObservation, [UInt8]?)? {
        switch folder.read(expected) {
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
            guard let other = folder.names().subtracting(earlier).subtracting([expected]).min() else { return nil }
            guard case .file(let bytes) = folder.read(other) else { return (.unexpectedName(other), nil) }
            return (.unexpectedName(other), bytes)
        }
    }

    private func excessiveOutput() -> String? {
        for path in [outputs.standardOutput, outputs.standardError] {
            var status = stat()
            if lstat(path, &status) == 0, Int64(status.st_size) > Self.outputLimit {
                return "writing more than \(Self.outputLimit >> 20) MiB to one of its outputs"
            }
        }
        return nil
    }
}
