import BerthArchive
import BerthCore
import BerthSystem
import Foundation

extension DevicectlDriver: DeviceDriver {
    /// Each look is a call of the tool over the phone's tunnel.
    package var pollInterval: Duration { .milliseconds(250) }

    package var deviceTool: DeviceTool { tool.xcrun }

    /// Where the probe keeps its files in an app's data container.
    private static let statusFolder = "Documents/berth/"

    // MARK: The steps of an attempt

    package func prepare(for assignment: Assignment) async throws -> PreparedDevice {
        try await clean()
        if let left = records.record {
            throw tool.error(.notClean, "prepare", "attempt \(left.attempt) is not cleaned up yet")
        }
        let phone = try await checkReadiness()
        guard let os = phone.os else { throw tool.error(.unreadable, "list devices", "it names no system") }
        let boot = try await bootID()
        let record = HardwareRecord(assignment)
        try records.write(record)
        for bundle in record.bundles { try await remove(bundle) }
        return PreparedDevice(udid: tool.udid, bootID: boot, os: os)
    }

    package func install(_ build: AssignedBuild, bundle path: String, on device: PreparedDevice) async throws {
        let bundle = build.description.bundleIdentifier
        let installed = try await tool.install(path).installedApplications.first?.bundleID
        guard let application = try await tool.application(bundle) else {
            throw tool.error(
                .unreadable,
                "device info apps",
                "\(bundle) is not there after the installation of \(installed ?? "nothing")"
            )
        }
        if application.containerAccessible == false {
            throw tool.error(
                .signingRefused,
                "device info apps",
                "the data container of \(bundle) cannot be read: sign the build for development (get-task-allow)"
            )
        }
    }

    package func launch(_ launch: AppLaunch, on device: PreparedDevice) async throws -> LaunchedApp {
        if var record = records.record, !record.hasLaunched {
            record.hasLaunched = true
            try records.write(record)
        }
        let earlier = Set(try await statusEntries(of: launch.bundle).keys)
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            do {
                let process = try await tool.launch(launch)
                return LaunchedApp(
                    bundle: launch.bundle,
                    pid: process.processIdentifier,
                    process: nil,
                    container: nil,
                    earlierStatusFiles: earlier
                )
            } catch let error as DeviceToolError where error.kind == .appUnknown && ContinuousClock.now < deadline {
                // Right after an installation the app is not always known yet.
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    package func isRunning(_ app: LaunchedApp, on device: PreparedDevice) async throws -> Bool {
        try await tool.processes().contains { $0.processIdentifier == app.pid }
    }

    package func end(_ app: LaunchedApp, on device: PreparedDevice) async throws {
        let deadline = ContinuousClock.now + tool.limits.terminate
        let patience = ContinuousClock.now + .seconds(5)
        while true {
            do {
                try await tool.terminate(app.pid, kill: ContinuousClock.now > patience)
            } catch let error as DeviceToolError where error.kind == .nothingThere {
                return
            }
            guard try await isRunning(app, on: device) else { return }
            guard ContinuousClock.now < deadline else {
                throw tool.error(.other, "device process terminate", "process \(app.pid) is still there afterwards")
            }
            try await Task.sleep(for: pollInterval)
        }
    }

    package func statusFiles(
        of app: LaunchedApp,
        reading name: String?,
        on device: PreparedDevice
    ) async throws -> StatusLook {
        let entries = try await statusEntries(of: app.bundle)
        let names = Set(entries.keys)
        guard let name, let entry = entries[name] else { return StatusLook(finding: .nothing, names: names) }
        if entry.resources?.isSymbolicLink == true || entry.resources?.isDirectory == true {
            return StatusLook(finding: .unusable("it is no regular file"), names: names)
        }
        let size = entry.metadata?.size ?? 0
        guard size <= StatusFile.sizeLimit else { return StatusLook(finding: .oversized(size), names: names) }
        let bytes = try await tool.read(entry.path, in: .container(of: app.bundle), limit: StatusFile.sizeLimit)
        return StatusLook(finding: bytes.map { .file($0) } ?? .oversized(size), names: names)
    }

    /// The status files of an app's data container, by name.
    func statusEntries(of bundle: String) async throws -> [String: DevicectlResults.Files.File] {
        var entries: [String: DevicectlResults.Files.File] = [:]
        for file in try await tool.files(in: .container(of: bundle)) where file.path.hasPrefix(Self.statusFolder) {
            let name = String(file.path.dropFirst(Self.statusFolder.count))
            if StatusFolder.isStatusName(name) { entries[name] = file }
        }
        return entries
    }

    /// A phone does not tell which data container an app has. What the probe keeps in it stands for it: a container that
    /// was replaced has neither the count of launches nor the epoch's marker.
    package func continuity(of bundle: String?, on device: PreparedDevice) async throws -> ContinuityFacts {
        let boot = try await bootID()
        // No system changes without a new start of the phone.
        var os: OSPin? = device.os
        if boot != device.bootID { os = try await tool.phone().os }
        guard let os else { throw tool.error(.unreadable, "list devices", "it names no system") }
        guard let bundle else { return ContinuityFacts(bootID: boot, dataContainer: "", os: os) }
        guard let application = try await tool.application(bundle) else {
            throw tool.error(.appUnknown, "device info apps", "\(bundle) is not installed")
        }
        let paths = Set(try await tool.files(in: .container(of: bundle)).map(\.path))
        return ContinuityFacts(
            bootID: boot,
            dataContainer: "",
            os: os,
            appContainer: application.url,
            trace: ContinuityFacts.ProbeTrace(
                launch: try await number(".launch", of: bundle, in: paths).flatMap { Int($0) },
                epoch: try await number(".epoch", of: bundle, in: paths)
            )
        )
    }

    /// A number that the probe keeps; nil when it is not there or is none.
    private func number(_ name: String, of bundle: String, in paths: Set<String>) async throws -> UInt64? {
        let path = Self.statusFolder + name
        guard paths.contains(path), let bytes = try await tool.read(path, in: .container(of: bundle), limit: 64) else {
            return nil
        }
        return UInt64(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Crash logs of the app that were written since the attempt began, at most five of them.
    package func logs(
        since start: Timestamp,
        of bundle: String,
        on device: PreparedDevice
    ) async throws -> [String: [UInt8]] {
        guard let application = try await tool.application(bundle), let url = application.url else { return [:] }
        let app = url.split(separator: "/").last.map { $0.replacingOccurrences(of: ".app", with: "") } ?? bundle
        // Dates of this form are ordered as their texts are.
        let began = Date(timeIntervalSince1970: Double(start.milliseconds) / 1000).formatted(.iso8601)
        let fresh = try await tool.files(in: .crashLogs).filter { file in
            let name = file.path.split(separator: "/").last.map(String.init) ?? ""
            return name.hasPrefix(app) && (file.metadata?.lastModDate ?? "") >= began
        }
        var logs: [String: [UInt8]] = [:]
        for file in fresh.prefix(5) {
            let name = file.path.replacingOccurrences(of: "/", with: "_")
            logs["crashes/\(name)"] = try await tool.read(file.path, in: .crashLogs, limit: 4 << 20)
        }
        return logs
    }

    package func settle(
        _ assignment: Assignment,
        device: PreparedDevice?,
        ending: DeviceEnding
    ) async throws -> String? {
        guard var record = records.record, record.attempt == assignment.attempt else { return nil }
        switch ending {
        case .clean:
            // The exact cleanup is proved, so only the app is left. If it cannot be removed now, it is later.
            record.hasLaunched = false
            records.remember(record)
            records.move(to: .due)
            try await removeApps(record)
            records.remember(nil)
            return nil
        case .abandoned:
            records.move(to: .due)
            return nil
        case .worthKeeping(let outcome, let code, let evidence):
            record.outcome = outcome
            record.evidence = evidence
            records.remember(record)
            let cause = OutcomeCause(code ?? "failed", "attempt \(assignment.attempt) of run \(assignment.run)")
            records.move(to: .held, cause: cause, after: wish.hold)
            return tool.udid
        case .agentDied:
            // `holdAfterDeath` has decided.
            if record.evidence != nil {
                record.evidence = .evidenceLost
                records.remember(record)
            }
            return record.stage == .held ? tool.udid : nil
        }
    }

    // MARK: Removing apps

    func removeApps(_ record: HardwareRecord) async throws {
        for bundle in record.bundles { try await remove(bundle) }
    }

    /// Uninstalls an app, if it is there, and makes sure that it is gone.
    func remove(_ bundle: String) async throws {
        guard try await tool.application(bundle) != nil else { return }
        try await tool.uninstall(bundle)
        guard try await tool.application(bundle) == nil else {
            throw tool.error(.other, "device uninstall app", "\(bundle) is still there afterwards")
        }
    }
}
