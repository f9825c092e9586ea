import BerthArchive
import BerthCore
import BerthSystem
import Foundation

extension AttemptExecution {
    /// All steps of the attempt. What fails is thrown; what the apps do is judged on the way.
    func performSteps() async throws {
        try await step("prepare device", number: 1) { try await prepareDevice() }
        for (index, next) in assignment.caseDefinition.steps.enumerated() where evaluation.goesOn {
            try await step(next.title, number: index + 2) { try await perform(next) }
        }
        guard evaluation.goesOn else { return }
        try await step("clean up", number: assignment.caseDefinition.steps.count + 2) { try await launch(.cleanup) }
    }

    private func perform(_ step: CaseStep) async throws {
        switch step {
        case .install(let role): try await install(role)
        case .launch(let launch): try await self.launch(launch)
        case .terminate: try await endApp()
        case .reboot: try await reboot()
        case .fault(let fault):
            guard let device else { return }
            try await driver.inject(fault, on: device)
            faults.append(fault)
        case .lock, .unlock:
            throw DeviceToolError(.usage, verb: step.title, details: "no device of this agent can be locked by a case")
        }
    }

    private func reboot() async throws {
        guard let device else { return }
        try await endApp()
        try await driver.reboot(device)
        let bundle = installed?.description.bundleIdentifier
        evaluation.recordReboot(try await driver.continuity(of: bundle, on: device))
    }

    private func prepareDevice() async throws {
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
        if let bundle = installed?.description.bundleIdentifier {
            try await endApp()
            guard try await recordState(of: bundle, on: device) else { return }
        }
        let bundle = try await materialize(build, role)
        do {
            try await driver.install(build, bundle: bundle, on: device)
        } catch let error as DeviceToolError where error.kind == .buildRefused && role == .new {
            // The device is well and says that this build is not: the build's failure, not the farm's.
            evaluation.recordRefusal(role, error.details)
            return
        }
        installed = build
        let facts = try await driver.continuity(of: build.description.bundleIdentifier, on: device)
        evaluation.recordInstallation(role, accessGroups: entitlements.accessGroups(role), facts: facts)
    }

    /// Lays a build's bundle out, and reads its entitlements.
    /// - Returns: the bundle's path.
    private func materialize(_ build: AssignedBuild, _ role: BuildRole) async throws -> String {
        expect("the bundle on disk", within: .seconds(600))
        let bundle = try settings.bundles.bundle(of: build.id)
        if !entitlements.has(role) { try await readEntitlements(of: build, role, bundle: bundle) }
        return bundle
    }
}
