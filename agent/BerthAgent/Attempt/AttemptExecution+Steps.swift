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
        let device = try await driver.prepare(for: assignment)
        self.device = device
        let description = DeviceDescription(
            facts: driver.facts,
            udid: device.udid,
            bootID: device.bootID,
            os: device.os,
            tools: driver.tools
        )
        evidence.add("device.json", try CanonicalJSON.encode(description))
        guard device.os == assignment.pins.os else {
            evaluation.recordFailure(
                .init("os-mismatch", "the device runs \(device.os), the run is pinned to \(assignment.pins.os)")
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

    // MARK: Installing

    private func install(_ role: BuildRole) async throws {
        guard let device, let build = assignment.build(role) else { return }
        if installed != nil { try await endApp() }
        let bundle = try materialize(build, role)
        do {
            try await driver.install(build, bundle: bundle, on: device)
        } catch let error as DeviceToolError where error.kind == .buildRefused && role == .new {
            // The device is well and says that this build is not: the build's failure, not the farm's.
            evaluation.record(
                .ended("it could not be installed: \(error.details)"),
                phase: .verify,
                continuity: try await driver.continuity(of: nil, on: device)
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
        guard let device, let bundle = installed?.description.bundleIdentifier else { return }
        try await endApp()
        let number = evaluation.nextLaunch
        let launch = AppLaunch(
            bundle: bundle,
            arguments: arguments(phase, create: create),
            environment: [:],
            standardOutput: "\(folder)/app-\(number).stdout",
            standardError: "\(folder)/app-\(number).stderr"
        )
        launches.append(launch)
        let app: LaunchedApp
        do {
            app = try await driver.launch(launch, on: device)
        } catch let error as DeviceToolError where error.kind == .launchDenied || error.kind == .buildRefused {
            evaluation.record(
                .ended("it could not be started: \(error.details)"),
                phase: phase,
                continuity: try await driver.continuity(of: bundle, on: device)
            )
            return
        }
        self.app = app
        let watch = LaunchWatch(
            driver: driver,
            device: device,
            app: app,
            expected: "\(number)-\(phase.rawValue).json",
            outputs: [launch.standardOutput, launch.standardError],
            limit: settings.statusTimeout
        )
        expect("the status file", within: settings.statusTimeout)
        let (observation, bytes) = try await watch.wait()
        if let bytes { evidence.add("status/\(number)-\(phase.rawValue).json", bytes) }
        let continuity = try await driver.continuity(of: bundle, on: device)
        evaluation.record(observation, phase: phase, continuity: continuity)
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

    /// Ends the app that was launched last, and makes sure that it is gone.
    private func endApp() async throws {
        guard let device, let app else { return }
        try await driver.end(app, on: device)
        self.app = nil
    }
}
