import BerthAgent
import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation

/// A host of a test's own with one stand-in phone.
struct PhoneHost: Sendable {
    static let otherNonce = "00112233445566778899aabbccddeeff"

    let host: AgentHost
    let udid: String

    /// Runs a test's body on a host with a phone, and ends all that it started.
    static func run(_ body: (PhoneHost) async throws -> Void) async throws {
        try await AgentHost.run { host in
            let made = try await command(host, Products.path("berth-sim"), ["phone", "create", "alpha"])
            guard made.termination == .exited(0) else { throw TestFailure("phone create: \(made.errorText)") }
            let udid = made.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
            try await body(PhoneHost(host: host, udid: udid))
        }
    }

    /// Starts the phone's agent; the slot is called `sim-1` as everywhere in these tests.
    @discardableResult
    func serve(_ more: [String] = [], waits: Bool = true) async throws -> ChildProcess {
        try await host.serve(options + more, waits: waits)
    }

    var options: [String] { ["--kind", "hardware", "--device", udid, "--locks", host.root + "/locks"] }

    /// Writes the phone's behaviour file, or removes it.
    func behave(_ json: String?) throws {
        let path = "\(host.root)/phones/\(udid)/behaviour.json"
        guard let json else { return _ = unlink(path) }
        try DurableFile.replace(path, with: Array(json.utf8))
    }

    /// `berth-agent release` on the slot.
    func release(_ more: [String] = []) async throws -> CommandResult {
        let arguments = ["release", "--state", host.state, "--wait", "40"] + more
        return try await Self.command(host, Products.path("berth-agent"), arguments)
    }

    /// `devicectl` on the phone, which must succeed.
    @discardableResult
    func devicectl(_ verb: String, _ more: [String]) async throws -> String {
        let result = try await Self.command(
            host,
            host.root + "/tools/xcrun",
            ["devicectl"] + verb.split(separator: " ").map(String.init)
                + ["--device", udid, "--json-output", "-", "--quiet"] + more
        )
        guard result.termination == .exited(0) else { throw TestFailure("\(verb): \(result.errorText)") }
        return result.outputText
    }

    /// The tool as the agent uses it.
    func tool(_ limits: DevicectlTool.Limits = .init(), recorder: CallRecorder? = nil) throws -> DevicectlTool {
        var environment = host.environment
        environment["PATH"] = "/usr/bin:/bin"
        // The agent's own environment is not this host's: a script stands in between.
        let script = host.root + "/tools/for-test"
        let lines = environment.map { "export \($0.key)='\($0.value)'" }.joined(separator: "\n")
        try Data("#!/bin/bash\n\(lines)\nexec '\(host.root)/tools/xcrun' \"$@\"\n".utf8)
            .write(to: URL(fileURLWithPath: script))
        chmod(script, 0o755)
        let folder = host.root + "/reports"
        try DurableFile.makeFolder(folder)
        return DevicectlTool(
            xcrun: DeviceTool(xcrun: script, recorder: recorder),
            udid: udid,
            folder: folder,
            limits: limits
        )
    }

    func assignment(
        _ attempt: String,
        _ epoch: UInt64,
        _ builds: [TestBuild],
        nonce: String = TestAssignment.nonce,
        case definition: CaseDefinition = BuiltInCases.update
    ) throws -> Assignment {
        try TestAssignment.make(
            attempt,
            epoch: epoch,
            case: definition,
            builds: builds,
            platform: .standIn,
            nonce: nonce
        )
    }

    /// Assigns an attempt, acknowledges its result and gives it.
    func perform(_ coordinator: CoordinatorEnd, _ assignment: Assignment, _ builds: [TestBuild]) async throws
        -> AttemptReport
    {
        try await coordinator.upload(builds)
        try coordinator.send(.assign(assignment), to: "sim-1")
        let report = try await coordinator.report(of: assignment.attempt, within: .seconds(120))
        let acknowledgement = Acknowledgement(attempt: report.attempt, epoch: report.epoch, filing: .recorded)
        try coordinator.send(.recorded(acknowledgement), to: "sim-1")
        return report
    }

    /// Offers an attempt that must be declined.
    func declination(_ coordinator: CoordinatorEnd, _ assignment: Assignment) async throws -> OutcomeCause {
        try coordinator.send(.assign(assignment), to: "sim-1")
        return try await coordinator.declination(of: assignment.attempt).cause
    }

    /// The sample builds.
    func builds(_ new: String) async throws -> [TestBuild] {
        [
            try await TestBuild.sample("legacy", version: "1.0", in: host.bundles),
            try await TestBuild.sample(new, version: "2.0", in: host.bundles),
        ]
    }

    private static func command(_ host: AgentHost, _ program: String, _ arguments: [String]) async throws
        -> CommandResult
    {
        try await CommandRunner.run(
            ProcessSpecification(executable: program, arguments: arguments, environment: host.environment),
            timeout: .seconds(50)
        )
    }
}
