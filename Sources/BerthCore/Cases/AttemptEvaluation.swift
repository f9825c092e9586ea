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

    let definition: CaseDefinition
    let nonce: String
    let epoch: UInt64
    var checks: [RuleID: CheckResult] = [:]
    private var ending: Ending?
    /// A part of the case that did not come about, so that a pass would prove less than it says.
    private var doubt: OutcomeCause?
    /// The seed's status file, once it is verified.
    var seeded: StatusFile?
    var launches = 0
    var lastVerification: StatusFile?
    /// A launch that had to end at a kill point, until the next one tells whether it did.
    var pendingKill: (launch: Int, point: CaseLaunch.KillPoint)?
    var continuity = ContinuityRecord()

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
    package var blamesProduct: Bool { seeded != nil || !definition.hasSeed }

    /// A build was installed. `accessGroups` are the keychain access groups of its entitlements, nil if they are not
    /// known; `facts` is the device afterwards.
    package mutating func recordInstallation(_ role: BuildRole, accessGroups: [String]?, facts: ContinuityFacts) {
        guard goesOn else { return }
        if let deviation = continuity.install(role, accessGroups, facts) { voids(deviation) }
    }

    /// The device says that a build cannot be installed on it.
    package mutating func recordRefusal(_ role: BuildRole, _ words: String) {
        guard goesOn else { return }
        let reason = "the \(role.rawValue) build could not be installed: \(words)"
        guard role == .new, blamesProduct else { return end(.errored(.init("build-refused", reason))) }
        for id in definition.checks where id != .secretsStay && checks[id] == nil {
            checks[id] = CheckResult(id: id, state: .broken, reason: reason)
        }
        end(.failed(.init("build-refused", reason)))
    }

    /// The device was booted anew by a step of the case.
    package mutating func recordReboot(_ facts: ContinuityFacts) {
        guard goesOn else { return }
        if let deviation = continuity.reboot(facts) { voids(deviation) }
    }

    /// The device as it is right before a launch.
    package mutating func recordState(_ facts: ContinuityFacts) {
        guard goesOn else { return }
        let epoch = seeded == nil ? nil : self.epoch
        if let deviation = continuity.deviation(facts, launches: launches, epoch: epoch) { voids(deviation) }
    }

    /// Takes in what a launch left, and the device afterwards.
    package mutating func record(_ observation: LaunchObservation, of launch: CaseLaunch, facts: ContinuityFacts) {
        guard goesOn else { return }
        if launch.expectation == .silence { return recordSilence(observation, launch, facts) }
        launches += 1
        if launch.killAt != nil, case .ended = observation {
            pendingKill = launch.killAt.map { (launches, $0) }
            continuity.forgetItems()
            return
        }
        guard case .status(let status) = observation else {
            return blame(launch, observation.code, observation.words)
        }
        guard status.nonce == nonce, status.phase == launch.phase else {
            let words = "its status file belongs to nonce \(status.nonce.prefix(40)), phase \(status.phase)"
            return blame(launch, "status-foreign", words)
        }
        guard status.launch == launches else {
            return voids(
                .init(
                    "continuity-launches",
                    "launch \(status.launch) reported itself where launch \(launches) was expected: somebody else launched the app"
                )
            )
        }
        if let pending = pendingKill {
            pendingKill = nil
            guard status.interrupted?.launch == pending.launch, status.interrupted?.point == pending.point.rawValue
            else {
                let words = "launch \(pending.launch) ended by itself before it came to \(pending.point.rawValue)"
                return blame(CaseLaunch(.verify, decides: launch.decides), "crashed", words)
            }
        }
        if let deviation = continuity.deviation(facts, launches: nil, epoch: nil) { return voids(deviation) }
        if seeded != nil, launch.phase == .verify, status.epochMarker != epoch {
            let marker = status.epochMarker.map { "epoch \($0)" } ?? "none"
            let words = "the seed left the marker of epoch \(epoch), the verification found \(marker)"
            return voids(.init("continuity-epoch", words))
        }
        if let problem = continuity.census(status, isSeed: launch.phase == .seed) { return voids(problem) }
        if let killAt = launch.killAt {
            let words = "the migration never came to \(killAt.rawValue), so nothing was interrupted"
            note(.init("kill-point-not-reached", "\(words); link the current migrator, or announce the point"))
        }
        switch launch.phase {
        case .seed: recordSeed(status)
        case .verify: recordVerification(status, launch)
        case .prepare: recordPreparation(status)
        case .census: recordCensus(status, launch)
        case .cleanup: recordCleanup(status)
        }
    }

    /// A part of the case did not come about, such as a fault that no call has met.
    package mutating func note(_ cause: OutcomeCause) {
        if doubt == nil { doubt = cause }
    }

    /// Something of the farm failed: tool, transfer, disk, time limit.
    package mutating func recordFailure(_ cause: OutcomeCause) {
        if goesOn { end(.errored(cause)) }
    }

    /// The host's disk took nothing more while the attempt ran: what went wrong then proves nothing about the builds. A
    /// pass stays one.
    package mutating func recordShortage(_ cause: OutcomeCause) {
        let before = conclusionSoFar
        guard before.outcome != .passed, before.outcome != .cancelled else { return }
        for (id, check) in checks where id != .secretsStay && check.state == .broken {
            checks[id] = CheckResult(id: id, state: .undecided, reason: "it was broken on a host whose disk was full")
        }
        let words = before.cause.map { "; what was seen then: \($0)" } ?? ""
        end(.errored(.init(cause.code, cause.message + words)))
    }

    /// How it would end if no secret is found in what is about to be stored (D2), which is decided last of all.
    package var conclusionSoFar: (outcome: Outcome, cause: OutcomeCause?, checks: [CheckResult]) {
        var judged = self
        if judged.checks[.secretsStay] == nil { judged.recordSecrecy(leaks: []) }
        return judged.conclusion
    }

    /// The attempt was called off.
    package mutating func recordCancellation(_ reason: String) {
        if goesOn { end(.cancelled(.init("cancelled", reason))) }
    }

    /// Cleanliness or continuity could not be proved.
    package mutating func recordDoubt(_ cause: OutcomeCause) {
        if goesOn { end(.void(cause)) }
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
            if let doubt { return (.errored, doubt, results) }
            if results.contains(where: { $0.state == .undecided }) {
                return (.errored, .init("undecided", "the case ended without deciding all of its checks"), results)
            }
            return (.passed, nil, results)
        }
    }

    static func cause(of check: CheckResult) -> OutcomeCause {
        OutcomeCause("\(check.id)-broken", check.reason ?? "")
    }

    // MARK: Endings

    private mutating func end(_ ending: Ending) {
        self.ending = ending
    }

    mutating func voids(_ cause: OutcomeCause) { end(.void(cause)) }

    mutating func errs(_ cause: OutcomeCause) { end(.errored(cause)) }

    mutating func fails(_ cause: OutcomeCause) { end(.failed(cause)) }

    /// A launch without a status file that counts: whose fault that is depends on what it was for.
    mutating func blame(_ launch: CaseLaunch, _ code: String, _ words: String) {
        switch launch.phase {
        case .seed: errs(.init("seed-\(code)", "the old build did not seed: \(words)"))
        case .prepare: errs(.init("prepare-\(code)", "the device could not be prepared: \(words)"))
        case .census: errs(.init("census-\(code)", "the items could not be counted: \(words)"))
        case .verify where blamesProduct:
            let reason = "the new build did not verify: \(words)"
            for id in launch.decides where checks[id] == nil {
                checks[id] = CheckResult(id: id, state: .broken, reason: reason)
            }
            fails(.init("verify-\(code)", reason))
        case .verify: errs(.init("verify-\(code)", "the build did not verify, and no seed stands: \(words)"))
        case .cleanup: voids(.init("cleanup-\(code)", "the exact cleanup could not be proved: \(words)"))
        }
    }
}
