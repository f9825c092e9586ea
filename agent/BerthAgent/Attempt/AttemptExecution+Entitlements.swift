import BerthArchive
import BerthCore
import BerthSystem

extension AttemptExecution {
    private static let log = Log(component: "entitlements")

    /// Reads what a build is entitled to, and compares it with what `codesign` shows where that gives an answer.
    /// - Throws: `ArchiveError`, `SystemError`, `CancellationError`
    func readEntitlements(of build: AssignedBuild, _ role: BuildRole, bundle: String) async throws {
        entitlements.add(role, build.id, try settings.builds.identity(build))
        if let shown = try await driver.deviceTool.shownEntitlements(of: bundle) {
            entitlements.compare(role, shown: shown)
        }
    }

    /// Puts the entitlements of all builds of the path into the evidence, also of those that were not installed.
    func collectEntitlements() {
        for role in BuildRole.allCases where !entitlements.has(role) {
            guard let build = assignment.build(role), role != .old || assignment.builds.count > 1 else { continue }
            do {
                entitlements.add(role, build.id, try settings.builds.identity(build))
            } catch {
                Self.log.error("cannot read a build's entitlements", ["build": build.id.short, "error": "\(error)"])
            }
        }
        do {
            for (path, bytes) in try settings.builds.files(entitlements) { evidence.add(path, bytes) }
        } catch {
            Self.log.error("cannot store the entitlements", ["error": "\(error)"])
        }
    }
}

extension DeviceTool {
    /// The property list that `codesign` shows of a bundle; nil when there is no `codesign` or it has no answer. It shows
    /// what stands in the signature, so of a simulator build next to nothing.
    /// - Throws: `CancellationError`
    func shownEntitlements(of bundle: String) async throws -> [UInt8]? {
        do {
            let result = try await call(
                "codesign",
                ["codesign", "-d", "--entitlements", "-", "--xml", bundle],
                limit: .seconds(60)
            )
            guard result.termination == .exited(0), !result.truncated, !result.output.isEmpty else { return nil }
            return result.output
        } catch is DeviceToolError {
            return nil
        }
    }
}
