/// Judges an attempt from what its launches left, step by step. A value: no I/O, no clock.
///
/// Before the seed is verified, whatever goes wrong is the farm's or the old build's (`errored`); after it, with the
/// device tool alive, it is the new build's (`failed`). What touches cleanliness or continuity is `void`.
package struct AttemptEvaluation: Sendable {
    private enum Ending: Sendable {
        case errored(OutcomeCause)
        case void(OutcomeCause)
        case failed(OutcomeCause)
        case cancelled(OutcomeCause)
    }

    private let definition: CaseDefinition
    private let nonce: String
    private let epoch: UInt64
    private var checks: [RuleID: CheckResult] = [:]
    private var ending: Ending?
    private var seeded: ContinuityFacts?
    private var launches = 0
    private var firstVerification: StatusFile?

    package init(definition: CaseDefinition, nonce: String, epoch: UInt64) {
        self.definition = definition
        self.nonce = nonce
        self.epoch = epoch
    }

    /// Whether further steps make sense.
    package var goesOn: Bool { ending == nil }

    /// The launch number that the next status file must carry.
    package var nextLaunch: Int { launches + 1 }

    /// Whether a failure of the app from now on is the product's.
    package var blamesProduct: Bool { seeded != nil || !definition.needsOldBuild }

    /// Takes in what a launch left.
    package mutating func record(_ observation: LaunchObservation, phase: LaunchPhase, continuity: ContinuityFacts) {
        guard ending == nil else { return }
        launches += 1
        guard case .status(let status) = observation else {
            blame(phase, observation.code, observation.words)
            return
        }
        guard status.nonce == nonce, status.phase == phase else {
            blame(
                phase,
                "status-foreign",
                "its status file belongs to nonce \(status.nonce.prefix(40)), phase \(status.phase)"
            )
            return
        }
        guard status.launch == launches else {
            end(
                .void(
                    .init(
                        "continuity-launches",
                        "launch \(status.launch) reported itself where launch \(launches) was expected: somebody else launched the app"
                    )
                )
            )
            return
        }
        if let census = status.census, census.otherSuffixes > 0 {
            end(.void(.init("not-clean", "\(census.otherSuffixes) items of other attempts are on the device")))
            return
        }
        switch phase {
        case .seed: recordSeed(status, continuity)
        case .verify: recordVerification(status, continuity)
        case .cleanup: recordCleanup(status)
        }
    }

    /// Something of the farm failed: tool, transfer, disk, time limit.
    package mutating func recordFailure(_ cause: OutcomeCause) {
        if ending == nil { end(.errored(cause)) }
    }

    /// The attempt was called off.
    package mutating func recordCancellation(_ reason: String) {
        if ending == nil { end(.cancelled(.init("cancelled", reason))) }
    }

    /// Cleanliness or continuity could not be proved.
    package mutating func recordDoubt(_ cause: OutcomeCause) {
        if ending == nil { end(.void(cause)) }
    }

    /// The search for the canary in all that is about to be stored has ended.
    /// - Parameter places: where it was found; empty if nowhere.
    package mutating func recordSecrecy(leaks places: [String]) {
        checks[.secretsStay] = CheckResult(
            id: .secretsStay,
            state: places.isEmpty ? .held : .broken,
            reason: places.isEmpty ? nil : "the credential stood in \(places.joined(separator: ", ")); it was masked"
        )
    }

    /// The judgement so far.
    package var conclusion: (outcome: Outcome, cause: OutcomeCause?, checks: [CheckResult]) {
        let results = definition.checks.map { id in
            checks[id] ?? CheckResult(id: id, state: .undecided, reason: "the attempt ended before it was decided")
        }
        let broken = results.first { $0.state == .broken }
        switch ending {
        case .void(let cause): return (.void, cause, results)
        case .cancelled(let cause): return (.cancelled, cause, results)
        case .errored(let cause):
            if let broken, broken.id == .secretsStay { return (.failed, Self.cause(of: broken), results) }
            return (.errored, cause, results)
        case .failed(let cause): return (.failed, cause, results)
        case nil:
            if let broken { return (.failed, Self.cause(of: broken), results) }
            if results.contains(where: { $0.state == .undecided }) {
                return (.errored, .init("undecided", "the case ended without deciding all of its checks"), results)
            }
            return (.passed, nil, results)
        }
    }

    private static func cause(of check: CheckResult) -> OutcomeCause {
        OutcomeCause("\(check.id)-broken", check.reason ?? "")
    }

    private mutating func end(_ ending: Ending) {
        self.ending = ending
    }

    private mutating func blame(_ phase: LaunchPhase, _ code: String, _ words: String) {
        switch phase {
        case .seed:
            end(.errored(.init("seed-\(code)", "the old build did not seed: \(words)")))
        case .verify where blamesProduct:
            let reason = "the new build did not verify: \(words)"
            for id in definition.checks where id != .secretsStay && checks[id] == nil {
                checks[id] = CheckResult(id: id, state: .broken, reason: reason)
            }
            end(.failed(.init("verify-\(code)", reason)))
        case .verify:
            end(.errored(.init("verify-\(code)", "the build did not verify, and no seed stands: \(words)")))
        case .cleanup:
            end(.void(.init("cleanup-\(code)", "the exact cleanup could not be proved: \(words)")))
        }
    }

    private mutating func recordSeed(_ status: StatusFile, _ continuity: ContinuityFacts) {
        if let census = status.census, census.ownSuffix > 0 {
            end(
                .void(
                    .init(
                        "not-clean",
                        "\(census.ownSuffix) items with this attempt's own suffix were there before the seed"
                    )
                )
            )
        } else if status.result == .failed {
            end(.errored(.init("seed-failed", "the old build could not seed: \(status.reason ?? "no reason given")")))
        } else if let item = status.item(.legacy), item.read == .found, item.content == .matches {
            seeded = continuity
        } else {
            let item = status.item(.legacy)
            let found = item.map { "\($0.read) (OSStatus \($0.status)), content \($0.content)" } ?? "not reported"
            end(
                .errored(
                    .init("seed-not-verified", "the old build's item could not be read back after seeding: \(found)")
                )
            )
        }
    }

    private mutating func recordVerification(_ status: StatusFile, _ continuity: ContinuityFacts) {
        if let seeded {
            if seeded.bootID != continuity.bootID {
                return end(.void(.init("continuity-boot", "the device was booted anew between seed and verification")))
            }
            if seeded.dataContainer != continuity.dataContainer {
                return end(
                    .void(
                        .init(
                            "continuity-container",
                            "the app's data container was replaced between seed and verification"
                        )
                    )
                )
            }
            if seeded.os != continuity.os {
                return end(
                    .void(
                        .init(
                            "continuity-os",
                            "the system changed from \(seeded.os) to \(continuity.os) between seed and verification"
                        )
                    )
                )
            }
            if status.epochMarker != epoch {
                let marker = status.epochMarker.map { "epoch \($0)" } ?? "none"
                return end(
                    .void(
                        .init(
                            "continuity-epoch",
                            "the seed left the marker of epoch \(epoch), the verification found \(marker)"
                        )
                    )
                )
            }
        }
        let item = status.item(.target)
        let readable = item?.read == .found && item?.content == .matches
        if let first = firstVerification {
            decide(.repeatable, Self.difference(first, status))
        } else if seeded == nil {
            decide(.freshInstall, readable ? nil : "the new build did not create its item: \(Self.words(status))")
            firstVerification = status
        } else {
            decide(.readable, readable ? nil : "the new build cannot read the old build's data: \(Self.words(status))")
            firstVerification = status
        }
        if !readable, checks[.repeatable] == nil, definition.checks.contains(.repeatable) {
            checks[.repeatable] = CheckResult(
                id: .repeatable,
                state: .undecided,
                reason: "there is no migrated item that a second run could change"
            )
        }
        if checks.values.contains(where: { $0.state == .broken }) {
            end(.failed(checks.values.first { $0.state == .broken }.map(Self.cause) ?? .init("verify-failed", "")))
        }
    }

    private mutating func recordCleanup(_ status: StatusFile) {
        guard status.result == .succeeded, let before = status.census, let after = status.censusAfter else {
            end(.void(.init("cleanup-failed", "the exact cleanup failed: \(status.reason ?? "the census is missing")")))
            return
        }
        if after.ownSuffix > 0 {
            end(
                .void(.init("cleanup-incomplete", "\(after.ownSuffix) items of the attempt are left after its cleanup"))
            )
        } else if after.bystanders != before.bystanders || after.bystandersDigest != before.bystandersDigest {
            end(.void(.init("cleanup-touched-bystanders", "the cleanup changed items that are not the attempt's")))
        }
    }

    private mutating func decide(_ id: RuleID, _ problem: String?) {
        guard definition.checks.contains(id) else { return }
        checks[id] = CheckResult(id: id, state: problem == nil ? .held : .broken, reason: problem)
    }

    private static func words(_ status: StatusFile) -> String {
        func words(_ role: StatusFile.Item.Role) -> String {
            guard let item = status.item(role) else { return "\(role) item not reported" }
            switch item.read {
            case .found: return "\(role) item found, content \(item.content)"
            case .missing: return "\(role) item missing (OSStatus \(item.status))"
            case .failed: return "\(role) item unreadable (OSStatus \(item.status))"
            }
        }
        let claim = status.migration.map { "; the app claims: \($0.outcome.rawValue)" } ?? ""
        return "\(words(.target)); \(words(.legacy))\(claim)"
    }

    /// What a second migration changed, or nil if nothing.
    private static func difference(_ first: StatusFile, _ second: StatusFile) -> String? {
        guard let before = first.item(.target), let after = second.item(.target) else {
            return "the second run did not report the target item"
        }
        if after.read != .found || after.content != .matches {
            return "after the second run the data is no longer readable: \(words(second))"
        }
        if second.migration?.wrote == true { return "the second run wrote again" }
        if before.contract != after.contract { return "the second run changed the item's contract" }
        if before.created != after.created || before.modified != after.modified {
            return "the second run changed the item's dates, so it wrote again"
        }
        if before.reference != after.reference {
            return "the second run replaced the item: its persistent reference changed"
        }
        return nil
    }
}
