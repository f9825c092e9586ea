import BerthArchive
import BerthCore
import BerthSystem
import Foundation

extension AttemptExecution {
    /// All steps of the attempt. What fails is thrown; what the apps do is judged on the way.
    func performSteps() async throws {
        try await step("prepare device", number: 1) { try await prepareDevice() }
        for (index, next) in assignment.caseDefinition.steps.enumerated() where evaluation.goesOn {
            try await step(next.title, number: index + 2) {
                switch next {
                case .install(let role): try await install(role)
                case .launch(let phase, let create): try await launch(phase, create: create)
                case .terminate: try await endApp()
                }
            }
        }
        guard evaluation.goesOn else { return }
        try await step("clean up", number: assignment.caseDefinition.steps.count + 2) {
            try await launch(.cleanup, create: false)
        }
    }

    private func prepareDevice() async throws {
        try DurableFile.makeFolder(folder)
        try await settings.device.clean(with: driver)
        let udid = try await driver.clone(
            settings.device.pristine,
            name: SlotDevice.name(forAttempt: assignment.attempt)
        )
        self.udid = udid
        try await withBootLock { try await driver.boot(udid) }
        let identity = try await driver.identity(udid)
        let description = DeviceDescription(
            facts: settings.device.facts,
            udid: udid,
            bootID: identity.bootID,
            os: identity.os,
            tools: settings.device.tools
        )
        evidence.add("device.json", try CanonicalJSON.encode(description))
        guard identity.os == assignment.pins.os else {
            evaluation.recordFailure(
                .init("os-mismatch", "the device runs \(identity.os), the run is pinned to \(assignment.pins.os)")
            )
            return
        }
    }

    /// What the evidence says about the device.
    private struct DeviceDescription: Encodable {
        let facts: DeviceFacts
        let udid: String
        let bootID: String
        let os: OSPin
        let tools: [String: String]
    }

    /// Waits for the host's turn to boot, where there is one.
    private func withBootLock(_ body: () async throws -> Void) async throws {
        guard let path = settings.bootLock else { return try await body() }
        expect("the host's turn to boot", within: driver.limits.firstBoot)
        let deadline = ContinuousClock.now + driver.limits.firstBoot
        while true {
            do {
                let lock = try FileLock.acquire(path: path, holder: DeviceLock.holderLine(slot: assignment.attempt))
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

    // MARK: Installing

    private func install(_ role: BuildRole) async throws {
        guard let udid, let build = assignment.build(role) else { return }
        if installed != nil { try await endApp() }
        let bundle = try materialize(build, role)
        do {
            try await driver.install(udid, bundle: bundle)
            _ = try await driver.container(udid, build.description.bundleIdentifier, "app")
        } catch let error as DeviceToolError where error.kind == .buildRefused && role == .new {
            // The device is well and says that this build is not: the build's failure, not the farm's.
            let data = try? await driver.container(udid, build.description.bundleIdentifier, "data")
            evaluation.record(
                .ended("it could not be installed: \(error.details)"),
                phase: .verify,
                continuity: try await continuity(data ?? "")
            )
            return
        }
        installed = build
    }

    private func materialize(_ build: AssignedBuild, _ role: BuildRole) throws -> String {
        expect("the bundle on disk", within: .seconds(600))
        let place = "\(folder)/\(role.rawValue)"
        try Folders.remove(place)
        let bytes = try settings.cache.read(build.id, limit: AssignmentCheck.manifestLimit)
        let manifest = try BuildManifest.parse(bytes)
        for entry in manifest.entries where entry.path.hasSuffix(".xcent") && !entry.path.contains("/") {
            guard let digest = entry.digest else { continue }
            evidence.add("entitlements/\(role.rawValue).xcent", try settings.cache.read(digest, limit: 1 << 20))
        }
        return try BundleMaterializer.materialize(manifest, from: settings.cache, to: place)
    }

    // MARK: Launching

    private func launch(_ phase: LaunchPhase, create: Bool) async throws {
        guard let udid, let bundle = installed?.description.bundleIdentifier else { return }
        try await endApp()
        let number = evaluation.nextLaunch
        let container = try await driver.container(udid, bundle, "data")
        let status = StatusFolder(container: container)
        let earlier = status.names()
        let output = SimulatorDriver.AppOutput(
            standardOutput: "\(folder)/app-\(number).stdout",
            standardError: "\(folder)/app-\(number).stderr"
        )
        launches.append(output)
        let pid: Int32
        do {
            pid = try await driver.launch(udid, bundle, arguments(phase, create: create), output: output)
        } catch let error as DeviceToolError where error.kind == .launchDenied || error.kind == .buildRefused {
            evaluation.record(
                .ended("it could not be started: \(error.details)"),
                phase: phase,
                continuity: try await continuity(container)
            )
            return
        }
        let process = ProcessIdentity(running: pid)
        app = process
        let watch = LaunchWatch(
            folder: status,
            expected: "\(number)-\(phase.rawValue).json",
            earlier: earlier,
            process: process,
            pid: pid,
            outputs: output,
            limit: settings.statusTimeout
        )
        expect("the status file", within: settings.statusTimeout)
        let (observation, bytes) = try await watch.wait()
        if let bytes { evidence.add("status/\(number)-\(phase.rawValue).json", bytes) }
        // Asked again: a container that changed under the app is no continuity.
        let after = try await driver.container(udid, bundle, "data")
        evaluation.record(observation, phase: phase, continuity: try await continuity(after))
        try await endApp()
    }

    private func arguments(_ phase: LaunchPhase, create: Bool) -> [String] {
        var arguments: [String]
        switch phase {
        case .seed: arguments = ["-UITestSeedLegacyKeychain"]
        case .verify:
            let digest = Canary(nonce: assignment.nonce)?.digest.description ?? ""
            arguments = ["-UITestVerifyKeychainV2", "-BerthExpectedDigest", digest]
            if create { arguments.append("-BerthCreate") }
        case .cleanup: arguments = ["-BerthCleanUp"]
        }
        return arguments + ["-BerthNonce", assignment.nonce, "-BerthEpoch", "\(assignment.epoch)"]
    }

    private func continuity(_ container: String) async throws -> ContinuityFacts {
        guard let udid else { throw DeviceToolError(.deviceUnknown, verb: "device-info", details: "no device yet") }
        let identity = try await driver.identity(udid)
        return ContinuityFacts(bootID: identity.bootID, dataContainer: container, os: identity.os)
    }

    /// Ends the app that was launched last, and makes sure that it is gone.
    private func endApp() async throws {
        guard let udid, let bundle = installed?.description.bundleIdentifier, let process = app else { return }
        try await driver.terminate(udid, bundle)
        let deadline = ContinuousClock.now + driver.limits.terminate
        while process.isRunning {
            guard ContinuousClock.now < deadline else {
                throw DeviceToolError(.other, verb: "terminate", details: "\(process) is still there afterwards")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        app = nil
    }
}
