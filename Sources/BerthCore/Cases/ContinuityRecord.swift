/// What is known of device and keychain between the launches of an attempt, to notice what no step of the case did.
struct ContinuityRecord: Sendable {
    /// What the last launch left in the keychain, as far as its build saw it.
    private struct Left: Sendable {
        let role: BuildRole?
        let bystanders: Bystanders
        /// Items of the attempt; nil if nobody counted them afterwards.
        let own: Int?
    }

    /// The items that are not the migration's.
    struct Bystanders: Sendable, Hashable {
        let count: Int
        let digest: Digest

        init(_ census: StatusFile.Census) {
            count = census.bystanders
            digest = census.bystandersDigest
        }
    }

    private var expected: ContinuityFacts?
    private(set) var installed: BuildRole?
    /// Keychain access groups of the builds that were installed, where they are known.
    private(set) var accessGroups: [BuildRole: [String]] = [:]
    /// The bystanders at the seed or the last preparation.
    var bystanders: Bystanders?
    private var left: Left?
    private var hasCensus = false

    // MARK: The device

    mutating func install(_ role: BuildRole, _ groups: [String]?, _ facts: ContinuityFacts) -> OutcomeCause? {
        defer { installed = role }
        accessGroups[role] = groups
        guard var expected else {
            expected = facts
            return nil
        }
        expected.appContainer = facts.appContainer
        self.expected = expected
        return facts.deviation(from: expected)
    }

    mutating func reboot(_ facts: ContinuityFacts) -> OutcomeCause? {
        guard var expected else {
            expected = facts
            return nil
        }
        guard expected.bootID != facts.bootID else {
            return OutcomeCause("continuity-boot", "the case rebooted the device, which still says the same boot ID")
        }
        expected.bootID = facts.bootID
        self.expected = expected
        return facts.deviation(from: expected)
    }

    /// How the device differs from what it has to be. `launches` is how often the probe must have been launched, `epoch`
    /// the marker that the seed left; nil: not asked.
    mutating func deviation(_ facts: ContinuityFacts, launches: Int?, epoch: UInt64?) -> OutcomeCause? {
        if let expected {
            if let deviation = facts.deviation(from: expected) { return deviation }
        } else {
            expected = facts
        }
        guard let trace = facts.trace, let launches else { return nil }
        if trace.launch ?? 0 != launches {
            return OutcomeCause(
                "continuity-launches",
                "the probe has counted \(trace.launch ?? 0) launches where the case made \(launches): somebody else "
                    + "launched the app, or its data is older"
            )
        }
        if let epoch, trace.epoch != epoch {
            return OutcomeCause(
                "continuity-epoch",
                "the seed left the marker of epoch \(epoch), now there is "
                    + (trace.epoch.map { "epoch \($0)" } ?? "none")
            )
        }
        return nil
    }

    // MARK: The keychain

    /// What a launch did to the items is not known.
    mutating func forgetItems() {
        left = nil
        hasCensus = true
    }

    /// Compares a launch's first look with what the launch before left, and remembers what it leaves itself.
    mutating func census(_ status: StatusFile, isSeed: Bool) -> OutcomeCause? {
        guard let census = status.census else { return nil }
        if census.otherSuffixes > 0 {
            return OutcomeCause("not-clean", "\(census.otherSuffixes) items of other attempts are on the device")
        }
        if census.ownSuffix > 0, isSeed || (!hasCensus && status.phase != .census) {
            return OutcomeCause(
                "not-clean",
                "\(census.ownSuffix) items with this attempt's own suffix were there before the seed"
            )
        }
        if let problem = strangeItems(census) { return problem }
        hasCensus = true
        let last = status.censusAfter ?? census
        left = Left(
            role: installed,
            bystanders: Bystanders(last),
            own: (status.censusAfter ?? (status.phase == .census ? census : nil))?.ownSuffix
        )
        if status.phase == .seed { bystanders = Bystanders(census) }
        if status.phase == .prepare { bystanders = Bystanders(last) }
        return nil
    }

    private func strangeItems(_ census: StatusFile.Census) -> OutcomeCause? {
        guard let left else { return nil }
        let now = Bystanders(census)
        if seesTheSame(left.role, installed), now != left.bystanders {
            let words =
                now.count == left.bystanders.count
                ? "the \(now.count) items that are not the migration's are others or were changed"
                : "\(now.count) items that are not the migration's are there, the launch before left "
                    + "\(left.bystanders.count)"
            return OutcomeCause("continuity-items", "\(words): between two launches somebody else wrote")
        }
        if let own = left.own, census.ownSuffix > own || (left.role == installed && census.ownSuffix != own) {
            return OutcomeCause(
                "continuity-items",
                "\(census.ownSuffix) items of the attempt are there, the launch before left \(own): between two "
                    + "launches somebody else wrote"
            )
        }
        return nil
    }

    /// Whether two builds see the same part of the keychain, as far as is known.
    private func seesTheSame(_ first: BuildRole?, _ second: BuildRole?) -> Bool {
        guard let first, let second, first != second, let one = accessGroups[first], let other = accessGroups[second]
        else { return true }
        return Set(one) == Set(other)
    }
}
