import BerthCore
import BerthSystem
import Foundation

extension SimulatorDriver: DeviceDriver {
    /// Apps are processes of this host and their containers folders of it, so that a look costs next to nothing.
    package var pollInterval: Duration { .milliseconds(25) }

    package var deviceTool: DeviceTool { simctl.xcrun }

    package func recording(_ recorder: CallRecorder, pulse: ExecutorPulse) -> any DeviceDriver {
        SimulatorDriver(
            facts: facts,
            tools: tools,
            simctl: simctl.recording(recorder, pulse: pulse),
            pristine: pristine,
            preserved: preserved,
            preservedLimit: preservedLimit,
            release: release,
            bootLock: bootLock
        )
    }

    // MARK: The slot

    package func refusal() -> OutcomeCause? {
        preserved.prune(set: simctl.set)
        let kept = preserved.all().filter { $0.isFound != true }
        guard kept.count >= preservedLimit else { return nil }
        return OutcomeCause(
            "preserved-budget-full",
            "\(kept.count) \(kept.count == 1 ? "device is" : "devices are") preserved after failures and "
                + "\(preservedLimit) may be: look at them and "
                + "release some (berth device release), of \(kept.map(\.udid).joined(separator: ", "))"
        )
    }

    /// Whether an operator releases the preserved devices.
    package func isCleaningDue() -> Bool { release.isThere }

    /// Deletes devices of this agent's attempts that are not preserved, and preserved ones that are released. A device of
    /// another agent without a note is kept: that agent's disk may not have taken the note.
    package func clean() async throws {
        preserved.prune(set: simctl.set)
        try preserved.requireReadable()
        let isReleased = release.take() != nil
        let kept = isReleased ? [] : Set(preserved.all().map(\.udid))
        for (_, device) in try await simctl.list().allDevices
        where device.name.hasPrefix(Self.attemptPrefix) && !kept.contains(device.udid) {
            let attempt = String(device.name.dropFirst(Self.attemptPrefix.count))
            if isReleased || preserved.knows(attempt) {
                try await remove(device.udid)
                preserved.end(attempt)
            } else {
                await preserve(found: device.udid, of: attempt)
            }
        }
        preserved.prune(set: simctl.set)
    }

    // MARK: The steps of an attempt

    package func prepare(for assignment: Assignment) async throws -> PreparedDevice {
        try await clean()
        try await makePlace()
        preserved.begin(assignment.attempt)
        let udid = try await simctl.clone(pristine, name: Self.name(forAttempt: assignment.attempt))
        try await withBootLock(assignment.attempt) { try await simctl.boot(udid) }
        let identity = try await simctl.identity(udid)
        return PreparedDevice(udid: udid, bootID: identity.bootID, os: identity.os)
    }

    /// Waits for the host's turn to boot, where there is one.
    private func withBootLock(_ attempt: String, _ body: () async throws -> Void) async throws {
        guard let bootLock else { return try await body() }
        simctl.xcrun.expect("the host's turn to boot", within: simctl.limits.firstBoot)
        let deadline = ContinuousClock.now + simctl.limits.firstBoot
        while true {
            do {
                let lock = try FileLock.acquire(path: bootLock, holder: DeviceLock.holderLine(slot: attempt))
                defer { lock.release() }
                return try await body()
            } catch let error as FileLockError {
                guard ContinuousClock.now < deadline else {
                    throw DeviceToolError(.timedOut, verb: "bootstatus", details: "waiting for other boots: \(error)")
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    package func install(_ build: AssignedBuild, bundle path: String, on device: PreparedDevice) async throws {
        try await simctl.install(device.udid, bundle: path)
        _ = try await simctl.container(device.udid, build.description.bundleIdentifier, "app")
    }

    package func launch(_ launch: AppLaunch, on device: PreparedDevice) async throws -> LaunchedApp {
        let container = try await simctl.container(device.udid, launch.bundle, "data")
        let earlier = StatusFolder(container: container).names()
        let pid = try await simctl.launch(device.udid, launch)
        return LaunchedApp(
            bundle: launch.bundle,
            pid: pid,
            process: ProcessIdentity(running: pid),
            container: container,
            earlierStatusFiles: earlier
        )
    }

    package func isRunning(_ app: LaunchedApp, on device: PreparedDevice) -> Bool { app.process?.isRunning ?? false }

    package func end(_ app: LaunchedApp, on device: PreparedDevice) async throws {
        try await simctl.terminate(device.udid, app.bundle)
        let deadline = ContinuousClock.now + simctl.limits.terminate
        while let process = app.process, process.isRunning {
            guard ContinuousClock.now < deadline else {
                throw DeviceToolError(.other, verb: "terminate", details: "\(process) is still there afterwards")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    package func statusFiles(of app: LaunchedApp, reading name: String?, on device: PreparedDevice) -> StatusLook {
        let folder = StatusFolder(container: app.container ?? "")
        // The file first: a name that is there now may not have been when the file was looked for.
        let finding = name.map { folder.read($0) } ?? .nothing
        return StatusLook(finding: finding, names: folder.names())
    }

    package func continuity(of bundle: String?, on device: PreparedDevice) async throws -> ContinuityFacts {
        let identity = try await simctl.identity(device.udid)
        guard let bundle else { return ContinuityFacts(bootID: identity.bootID, dataContainer: "", os: identity.os) }
        // Asked again each time: a container that changed under the app is no continuity.
        let container = try await simctl.container(device.udid, bundle, "data")
        return ContinuityFacts(
            bootID: identity.bootID,
            dataContainer: container,
            os: identity.os,
            appContainer: try await simctl.container(device.udid, bundle, "app"),
            trace: StatusFolder(container: container).trace
        )
    }

    package func reboot(_ device: PreparedDevice) async throws {
        try await simctl.shutdown(device.udid)
        try await withBootLock(device.udid) { try await simctl.boot(device.udid) }
    }

    /// Nothing: all that a simulated device tells of an app is its output, which has files of its own.
    package func logs(since start: Timestamp, of bundle: String, on device: PreparedDevice) -> [String: [UInt8]] { [:] }

    /// Deletes the attempt's device, or shuts it down and keeps it.
    package func settle(
        _ assignment: Assignment,
        device: PreparedDevice?,
        ending: DeviceEnding
    ) async throws -> String? {
        var known = device?.udid
        if known == nil { known = try await unfinished(assignment) }
        guard let udid = known else { return nil }
        switch ending {
        case .worthKeeping(let outcome, let cause, let evidence):
            await preserve(udid, after: assignment, outcome, cause: cause, evidence: evidence)
        case .agentDied:
            await preserve(udid, afterDeathIn: assignment)
        case .clean, .abandoned:
            try await remove(udid)
            preserved.end(assignment.attempt)
            return nil
        }
        preserved.end(assignment.attempt)
        return udid
    }

    private func remove(_ udid: String) async throws {
        try await simctl.shutdown(udid)
        try await simctl.delete(udid)
    }

    /// Lets found devices go, the oldest first, where they would keep the slot from its next attempt. Their attempts'
    /// reports are on disk or with the coordinator.
    private func makePlace() async throws {
        while true {
            let kept = preserved.all()
            guard kept.count >= preservedLimit,
                let oldest = kept.filter({ $0.isFound == true }).min(by: { ($0.since, $0.udid) < ($1.since, $1.udid) })
            else { return }
            Self.log.notice("a found device gives way", ["device": oldest.udid, "attempt": oldest.attempt])
            try await remove(oldest.udid)
            preserved.remove(oldest.udid)
        }
    }

    /// The device of an attempt that was made and did not become ready.
    private func unfinished(_ assignment: Assignment) async throws -> String? {
        let name = Self.name(forAttempt: assignment.attempt)
        return try await simctl.list().allDevices.first { $0.device.name == name }?.device.udid
    }
}
