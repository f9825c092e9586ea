// What a verifying launch's status file means, rule by rule.
extension AttemptEvaluation {
    func verdict(_ rule: RuleID, _ status: StatusFile, _ launch: CaseLaunch) -> CheckResult {
        func result(_ problem: String?) -> CheckResult {
            CheckResult(id: rule, state: problem == nil ? .held : .broken, reason: problem)
        }
        func undecided(_ reason: String) -> CheckResult { CheckResult(id: rule, state: .undecided, reason: reason) }
        let isReadable = Self.isKept(.target, status)
        let isKept = isReadable || Self.isKept(.legacy, status)
        let words = Self.words(status)
        switch rule {
        case .readable, .migrated:
            return result(isReadable ? nil : "the new build cannot read the old build's data: \(words)")
        case .freshInstall: return result(isReadable ? nil : "the new build did not create its item: \(words)")
        case .dataSought:
            let reason = "the new build believed the marker and did not look for the data: \(words)"
            return result(isReadable ? nil : reason)
        case .groupReachable: return result(isReadable ? nil : groupProblem(status, words))
        case .repeatable:
            guard let before = lastVerification else {
                return undecided("there is no earlier migration to compare with")
            }
            guard Self.isKept(.target, before) else {
                return undecided("there is no migrated item that a second run could change")
            }
            return result(Self.difference(before, status))
        case .nothingDeleted: return result(isKept ? nil : "the old item is lost: \(words)")
        case .originalKept: return result(isKept ? nil : "what the old build had written is lost: \(words)")
        case .errorClear:
            if !isKept, launch.decides.contains(.nothingDeleted) {
                return undecided("the old item is lost, as G3 says")
            }
            return result(errorProblem(status, words))
        case .bystandersUntouched:
            guard continuity.bystanders != nil else { return undecided("nobody counted the items at the seed") }
            guard let after = status.censusAfter else {
                return undecided("the probe took no census after the migration; link the current one")
            }
            return result(bystanderProblem(status.census) ?? bystanderProblem(after))
        default: return undecided("no launch can decide this rule here")
        }
    }

    /// Whether an item is there with the expected content.
    private static func isKept(_ role: StatusFile.Item.Role, _ status: StatusFile) -> Bool {
        status.item(role)?.read == .found && status.item(role)?.content == .matches
    }

    private func errorProblem(_ status: StatusFile, _ words: String) -> String? {
        guard Self.isKept(.legacy, status) else { return "the malformed item was not kept as it was: \(words)" }
        guard let claim = status.migration else { return "the new build reports no migration, so no error either" }
        guard claim.outcome == .failed else {
            return "the migration reports no error about the malformed item: it claims \(claim.outcome.rawValue)"
        }
        guard claim.reason?.isEmpty == false || (claim.status ?? 0) != 0 else {
            return "the migration reports a failure without an OSStatus or a reason"
        }
        return nil
    }

    private func groupProblem(_ status: StatusFile, _ words: String) -> String {
        if Self.isKept(.legacy, status) { return "the new build reaches the old item and does not move it: \(words)" }
        var text = "the old build's item is invisible to the new build: \(words)"
        func list(_ role: BuildRole) -> String? {
            continuity.accessGroups[role].map { "the \(role.rawValue) build's are \($0.joined(separator: ", "))" }
        }
        let lists = [list(.old), list(.new)].compactMap { $0 }
        if !lists.isEmpty { text += "; of the access groups \(lists.joined(separator: ", "))" }
        if let group = seeded?.items.first?.contract.accessGroup { text += "; the item lies in \(group)" }
        return "\(text); check the signing configuration"
    }

    static func words(_ status: StatusFile) -> String {
        func words(_ role: StatusFile.Item.Role) -> String {
            guard let item = status.item(role) else { return "\(role) item not reported" }
            switch item.read {
            case .found: return "\(role) item found, content \(item.content)"
            case .missing: return "\(role) item missing, OSStatus \(StatusCode(item.status))"
            case .failed: return "\(role) item unreadable, OSStatus \(StatusCode(item.status))"
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
