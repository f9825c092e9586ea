import BerthArchive
import BerthCore
import BerthSystem

/// Decides whether an assignment can be executed here, before anything is journaled.
package enum AssignmentCheck {
    /// What the decision rests on.
    package struct Situation: Sendable {
        package let device: DeviceFacts
        package let features: [String]
        package let highestEpoch: UInt64
        package let isBusy: Bool
        package let builds: KnownBuilds
    }

    /// Why the assignment is not taken, or nil.
    package static func refusal(_ assignment: Assignment, _ situation: Situation) -> OutcomeCause? {
        if situation.isBusy {
            return OutcomeCause("busy", "the slot executes another attempt; it takes one at a time")
        }
        guard assignment.epoch > situation.highestEpoch else {
            return OutcomeCause(
                "stale-epoch",
                "epoch \(assignment.epoch) is not above \(situation.highestEpoch), the highest that this device has seen"
            )
        }
        return malformed(assignment) ?? mismatch(assignment, situation) ?? missing(assignment, situation.builds)
    }

    private static func malformed(_ assignment: Assignment) -> OutcomeCause? {
        func refuse(_ problem: String) -> OutcomeCause { OutcomeCause("malformed-assignment", problem) }
        guard SlotName.isValid(assignment.attempt) else { return refuse("the attempt's ID cannot name a folder") }
        guard Canary(nonce: assignment.nonce) != nil else {
            return refuse("the nonce must have 32 lower-case hexadecimal digits")
        }
        guard assignment.timeout > 0 else { return refuse("the time limit must be above 0 ms") }
        guard !assignment.builds.isEmpty, assignment.builds.map(\.id) == assignment.pins.path else {
            return refuse("the builds are not those of the pinned path")
        }
        if let role = assignment.caseDefinition.roles.first(where: { assignment.build($0) == nil }) {
            return refuse(
                "the case installs a \(role.rawValue) build, and the path of \(assignment.builds.count) has none"
            )
        }
        do {
            let digest = Digest.sha256(of: try CanonicalJSON.encode(assignment.caseDefinition))
            guard digest == assignment.pins.caseDigest else {
                return OutcomeCause(
                    "case-mismatch",
                    "the case's digest is \(digest), pinned is \(assignment.pins.caseDigest)"
                )
            }
        } catch {
            return refuse("the case cannot be written: \(error)")
        }
        return nil
    }

    private static func mismatch(_ assignment: Assignment, _ situation: Situation) -> OutcomeCause? {
        let pins = assignment.pins
        guard pins.platform == situation.device.platform else {
            return OutcomeCause(
                "platform-mismatch",
                "the run is pinned to \(pins.platform.rawValue), this slot is \(situation.device.platform.rawValue)"
            )
        }
        guard pins.os == situation.device.os else {
            return OutcomeCause("os-mismatch", "the run is pinned to \(pins.os), this slot has \(situation.device.os)")
        }
        let definition = assignment.caseDefinition
        let needed = Set(definition.features).union(definition.steps.compactMap(\.feature))
        let lacking = needed.subtracting(situation.features).sorted()
        guard lacking.isEmpty else {
            return OutcomeCause(
                "features-missing",
                "the case \(assignment.caseDefinition.name) needs \(lacking.joined(separator: ", ")), which this slot "
                    + "does not offer"
            )
        }
        return nil
    }

    private static func missing(_ assignment: Assignment, _ builds: KnownBuilds) -> OutcomeCause? {
        for build in assignment.builds {
            do {
                let manifest = try builds.manifest(build.id)
                if let blob = manifest.blobs.first(where: { !builds.cache.contains($0.digest) }) {
                    return OutcomeCause(
                        OutcomeCause.buildMissing,
                        "the host's cache lacks the blob \(blob.digest) of build \(build.id)"
                    )
                }
            } catch {
                return OutcomeCause(
                    OutcomeCause.buildMissing,
                    "the host's cache has no usable manifest of \(build.id): \(error)"
                )
            }
        }
        return nil
    }
}
