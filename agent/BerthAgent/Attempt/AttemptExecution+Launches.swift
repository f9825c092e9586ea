import BerthCore
import BerthSystem
import Foundation

extension AttemptExecution {
    /// How long a build that must not react is watched.
    private static let silence: Duration = .seconds(3)

    /// Launches the app that was installed last, and lets what comes of it be judged.
    func launch(_ wanted: CaseLaunch) async throws {
        guard let device, let bundle = installed?.description.bundleIdentifier else { return }
        try await endApp()
        if wanted.phase == .cleanup { try await endFaults() }
        guard try await recordState(of: bundle, on: device) else { return }
        try DurableFile.makeFolder(folder)
        let number = launches.count + 1
        let launch = AppLaunch(
            bundle: bundle,
            arguments: arguments(wanted),
            environment: [:],
            standardOutput: "\(folder)/app-\(number).stdout",
            standardError: "\(folder)/app-\(number).stderr"
        )
        launches.append(launch)
        let app: LaunchedApp
        do {
            app = try await driver.launch(launch, on: device)
        } catch let error as DeviceToolError where error.kind == .launchDenied || error.kind == .buildRefused {
            let facts = try await driver.continuity(of: bundle, on: device)
            var denied = wanted
            denied.killAt = nil
            evaluation.record(.ended("it could not be started: \(error.details)"), of: denied, facts: facts)
            return
        }
        self.app = app
        let (observation, bytes) = try await watch(wanted, app, launch, device)
        if let bytes { evidence.add("status/\(evaluation.nextLaunch)-\(wanted.phase.rawValue).json", bytes) }
        let facts = try await driver.continuity(of: bundle, on: device)
        evaluation.record(observation, of: wanted, facts: facts)
        try await endApp()
        if wanted.phase == .verify { try await endFaults() }
    }

    /// Looks at the device before something is done to it, where an app is installed.
    /// - Returns: whether the attempt goes on.
    func recordState(of bundle: String, on device: PreparedDevice) async throws -> Bool {
        do {
            evaluation.recordState(try await driver.continuity(of: bundle, on: device))
        } catch let error as DeviceToolError where [.nothingThere, .appUnknown, .fileRefused].contains(error.kind) {
            let words = "the app is no longer installed, which no step of the case did: \(error.details)"
            evaluation.recordDoubt(.init("continuity-container", words))
        }
        return evaluation.goesOn
    }

    private func watch(
        _ wanted: CaseLaunch,
        _ app: LaunchedApp,
        _ launch: AppLaunch,
        _ device: PreparedDevice
    ) async throws -> (observation: LaunchObservation, bytes: [UInt8]?) {
        let limit = wanted.expectation == .silence ? min(settings.statusTimeout, Self.silence) : settings.statusTimeout
        expect("the status file", within: limit)
        return try await LaunchWatch(
            driver: driver,
            device: device,
            app: app,
            expected: "\(evaluation.nextLaunch)-\(wanted.phase.rawValue).json",
            outputs: [launch.standardOutput, launch.standardError],
            limit: limit
        ).wait()
    }

    /// Ends the faults of the steps before a launch. One that no call has met has tested nothing.
    private func endFaults() async throws {
        guard let device, !faults.isEmpty else { return }
        faults = []
        let left = try await driver.clearFaults(on: device)
        guard left > 0 else { return }
        evaluation.note(
            .init(
                "fault-not-met",
                "\(left) injected failures met no keychain call: the app did not make as many calls of that kind"
            )
        )
    }

    private func arguments(_ launch: CaseLaunch) -> [String] {
        let canary = Canary(nonce: assignment.nonce)
        let isMalformed = assignment.caseDefinition.launches.contains { $0.isMalformed }
        let digest = isMalformed ? canary?.malformedDigest : canary?.digest
        var arguments: [String] = []
        switch launch.phase {
        case .seed:
            arguments = ["-UITestSeedLegacyKeychain"]
            if launch.isMalformed { arguments.append("-BerthMalformed") }
        case .verify:
            arguments = ["-UITestVerifyKeychainV2", "-BerthExpectedDigest", digest?.description ?? ""]
            if launch.creates { arguments.append("-BerthCreate") }
            if let point = launch.killAt { arguments += ["-BerthKillAt", point.rawValue] }
        case .prepare: arguments = ["-BerthPrepare"] + self.arguments(launch.preparation)
        case .census: arguments = ["-BerthCensus"]
        case .cleanup: arguments = ["-BerthCleanUp"]
        }
        return arguments + ["-BerthNonce", assignment.nonce, "-BerthEpoch", "\(assignment.epoch)"]
    }

    private func arguments(_ preparation: CaseLaunch.Preparation) -> [String] {
        var arguments: [String] = []
        switch preparation.marker {
        case .version(let version): arguments += ["-BerthMarker", "\(version)"]
        case .own: arguments.append("-BerthSetMarker")
        case .cleared: arguments.append("-BerthClearMarker")
        case nil: break
        }
        if preparation.deletesTarget { arguments.append("-BerthDeleteTarget") }
        if preparation.deletesLegacy { arguments.append("-BerthDeleteLegacy") }
        if preparation.bystanders > 0 { arguments += ["-BerthBystanders", "\(preparation.bystanders)"] }
        return arguments
    }

    /// Ends the app that was launched last, and makes sure that it is gone.
    func endApp() async throws {
        guard let device, let app else { return }
        try await driver.end(app, on: device)
        self.app = nil
    }
}
