// What each kind of launch means for the checks.
extension AttemptEvaluation {
    mutating func recordSeed(_ status: StatusFile) {
        if status.result == .failed {
            return errs(.init("seed-failed", "the old build could not seed: \(status.reason ?? "no reason given")"))
        }
        if let item = status.items.first, item.read == .found, item.content == .matches {
            seeded = status
            return
        }
        let found = status.items.first.map { "\($0.read), OSStatus \(StatusCode($0.status)), content \($0.content)" }
        let words = "the old build's item could not be read back after seeding: \(found ?? "not reported")"
        errs(.init("seed-not-verified", words))
    }

    mutating func recordPreparation(_ status: StatusFile) {
        guard status.result == .failed else { return }
        errs(.init("prepare-failed", "the device could not be prepared: \(status.reason ?? "no reason given")"))
    }

    mutating func recordVerification(_ status: StatusFile, _ launch: CaseLaunch) {
        for rule in launch.decides { checks[rule] = verdict(rule, status, launch) }
        lastVerification = status
        if let broken = launch.decides.compactMap({ checks[$0] }).first(where: { $0.state == .broken }) {
            fails(Self.cause(of: broken))
        }
    }

    /// B3: with the test arguments the build runs on and writes nothing.
    mutating func recordSilence(_ observation: LaunchObservation, _ launch: CaseLaunch, _ facts: ContinuityFacts) {
        if let deviation = continuity.deviation(facts, launches: nil, epoch: nil) { return voids(deviation) }
        continuity.forgetItems()
        if case .hung = observation { return }
        let reason =
            "launched with the arguments of phase \(launch.phase.rawValue), the build reacted: "
            + observation.words
        checks[.productionSilent] = CheckResult(id: .productionSilent, state: .broken, reason: reason)
        fails(.init("B3-broken", reason))
    }

    mutating func recordCensus(_ status: StatusFile, _ launch: CaseLaunch) {
        guard let census = status.census else {
            return errs(.init("census-failed", "the items could not be listed: \(status.reason ?? "no reason given")"))
        }
        guard launch.decides.contains(.productionSilent) else { return }
        guard census.ownSuffix > 0 else {
            checks[.productionSilent] = CheckResult(id: .productionSilent, state: .held)
            return
        }
        let reason = "launched with the test arguments, the build wrote no status file, but \(census.ownSuffix) items"
        checks[.productionSilent] = CheckResult(id: .productionSilent, state: .broken, reason: reason)
        fails(.init("B3-broken", reason))
    }

    mutating func recordCleanup(_ status: StatusFile) {
        let broken = definition.checks.contains(.bystandersUntouched) ? bystanderProblem(status.censusAfter) : nil
        if let broken {
            let reason = "after the cleanup \(broken)"
            checks[.bystandersUntouched] = CheckResult(id: .bystandersUntouched, state: .broken, reason: reason)
            return fails(.init("E1-broken", reason))
        }
        guard status.result == .succeeded, let before = status.census, let after = status.censusAfter else {
            let words = "the exact cleanup failed: \(status.reason ?? "the census is missing")"
            return voids(.init("cleanup-failed", words))
        }
        if after.ownSuffix > 0 {
            voids(.init("cleanup-incomplete", "\(after.ownSuffix) items of the attempt are left after its cleanup"))
        } else if after.bystanders != before.bystanders || after.bystandersDigest != before.bystandersDigest {
            voids(.init("cleanup-touched-bystanders", "the cleanup changed items that are not the attempt's"))
        }
    }

    /// How bystanders differ from those at the seed, or nil.
    func bystanderProblem(_ census: StatusFile.Census?) -> String? {
        guard let census, let before = continuity.bystanders else { return nil }
        let now = ContinuityRecord.Bystanders(census)
        if now.count != before.count {
            return "\(now.count) items that are not the migration's are there; at the seed there were \(before.count)"
        }
        return now == before ? nil : "items that are not the migration's were changed"
    }
}
