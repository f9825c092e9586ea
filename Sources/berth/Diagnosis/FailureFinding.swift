import BerthCore

/// What the evidence of a failed attempt points to, with the rule that speaks about it.
struct FailureFinding: Sendable, Hashable, Encodable {
    let rule: RuleID
    let sentence: String

    private init(_ rule: String, _ sentence: String) {
        self.rule = RuleID(rule)
        self.sentence = sentence
    }

    /// The findings over an ended attempt, the one to look at first in front; empty when nothing failed, or nothing but the
    /// recorded reason is known.
    static func all(_ attempt: AttemptView, _ evidence: AttemptEvidence) -> [FailureFinding] {
        guard attempt.outcome == .failed, let verification = evidence.verification?.status else { return [] }
        let broken = attempt.checks.filter { $0.state == .broken }.map(\.id)
        var findings = hiddenGroup(verification, evidence) + otherContract(verification, evidence)
        if findings.isEmpty { findings += items(verification, evidence, attempt) }
        if broken.contains(.bystandersUntouched) { findings += bystanders(evidence) }
        if broken.contains(.repeatable) { findings += repeated(evidence) }
        return findings
    }

    // MARK: Second question: did the entitlements change?

    private static func hiddenGroup(_ status: StatusFile, _ evidence: AttemptEvidence) -> [FailureFinding] {
        guard let group = evidence.seeded?.item.contract.accessGroup, status.item(.legacy)?.read != .found,
            let groups = evidence.accessGroups(.new), !groups.contains(group)
        else { return [] }
        let now = groups.isEmpty ? "has no access group at all" : "has only \(groups.joined(separator: ", "))"
        return [
            FailureFinding(
                "S1",
                "the old item lies in access group \(group), which the new build's entitlements no longer list: it "
                    + "\(now). Check the signing configuration; if the group must change, a transitional build "
                    + "that has both moves the item (S3)"
            )
        ]
    }

    // MARK: First question: which of the five differs?

    private static func otherContract(_ status: StatusFile, _ evidence: AttemptEvidence) -> [FailureFinding] {
        guard let written = evidence.seeded?.item.contract, let sought = status.item(.legacy), sought.read != .found
        else { return [] }
        let suffix = suffix(status)
        return ContractField.differences(written, sought.contract).map { field in
            FailureFinding(
                "C1",
                "the new build looks for the old item under another \(field.rawValue): "
                    + "\(field.words(sought.contract, suffix: suffix)), where the old build wrote "
                    + field.words(written, suffix: suffix)
            )
        }
    }

    /// The suffix of service and account of an attempt's items.
    static func suffix(_ status: StatusFile) -> String { "-\(status.nonce.prefix(16))" }

    // MARK: What became of the items

    private static func items(
        _ status: StatusFile,
        _ evidence: AttemptEvidence,
        _ attempt: AttemptView
    ) -> [FailureFinding] {
        let target = status.item(.target)
        let hasOld = kept(status.item(.legacy))
        guard !kept(target) else { return [] }
        if let target, target.read == .failed {
            let code = StatusCode(target.status)
            let meaning = code.meaning.map { ": \($0)" } ?? ""
            return [FailureFinding("D1", "reading the new item answered \(code), \(code.family.rawValue)\(meaning)")]
        }
        if target?.read == .found, hasOld { return [twin(status)] }
        if target?.read == .found {
            return [FailureFinding("G1", "the new item is there and holds something else than the old build wrote")]
        }
        guard !hasOld else { return [untouched(status)] }
        guard status.item(.legacy)?.read == .missing, evidence.seeded != nil else { return [] }
        if attempt.report?.steps.contains(where: { $0.title.contains("malformed") }) == true {
            return [
                FailureFinding(
                    "G3",
                    "the new build deleted the old item because its content is malformed; the scene must be kept (M4)"
                )
            ]
        }
        let stopped = status.migration?.status.map { ", and then its write answered \(StatusCode($0))" } ?? ""
        return [
            FailureFinding(
                "C2",
                "the new build deleted the old item before the new one was there\(stopped). The order is: read, add, "
                    + "read back, and only then delete"
            )
        ]
    }

    private static func kept(_ item: StatusFile.Item?) -> Bool { item?.read == .found && item?.content == .matches }

    /// Old item in place, new item with other content.
    private static func twin(_ status: StatusFile) -> FailureFinding {
        var sentence =
            "the app's query did not find the old item, which is still there, and the app wrote a new one with other "
            + "content beside it"
        if let old = status.item(.legacy)?.contract.accessible, let new = status.item(.target)?.contract.accessible,
            old != new
        {
            sentence +=
                ". The accessibility differs (\(old), then \(new)): a query that names the new one filters the old item out"
        }
        return FailureFinding("C1", sentence)
    }

    /// Old item in place, no new item.
    private static func untouched(_ status: StatusFile) -> FailureFinding {
        let there = "the old item is in place with its content, and the new build did not move it"
        var fields = "form"
        if let old = status.item(.legacy)?.contract, let new = status.item(.target)?.contract {
            let differing = ContractField.differences(old, new).map(\.rawValue)
            if !differing.isEmpty { fields = differing.joined(separator: ", ") }
        }
        switch status.migration?.outcome {
        case .alreadyMigrated:
            let marker = status.migration?.markerBefore.map { " (version \($0))" } ?? ""
            return FailureFinding(
                "C4",
                "\(there): it believed its marker\(marker) and did not look. The marker proves nothing about the data"
            )
        case .migrated:
            return FailureFinding(
                "C5",
                "\(there), although the app claims to have migrated: under the new form there is nothing. Read back "
                    + "before claiming success"
            )
        case .failed:
            let code = status.migration?.status.map { " with \(StatusCode($0))" } ?? ""
            let reason = status.migration?.reason.map { ": \($0)" } ?? ""
            return FailureFinding("C5", "\(there): its migration failed\(code)\(reason)")
        case .nothingToMigrate, .created:
            let claim = status.migration?.outcome.rawValue ?? ""
            return FailureFinding(
                "C1",
                "\(there): its query changed, so it says \(claim). A new \(fields) needs a migration that reads with the "
                    + "old query first (C2)"
            )
        case nil: return FailureFinding("C1", "\(there); it reports no migration at all")
        }
    }

    private static func bystanders(_ evidence: AttemptEvidence) -> [FailureFinding] {
        let before = evidence.launches.first { $0.status.phase == .seed }?.status.census?.bystanders
        let after = evidence.launches.last { $0.status.censusAfter != nil }?.status.censusAfter?.bystanders
        guard let before, let after, before != after else { return [] }
        return [
            FailureFinding(
                "E1",
                "of \(before) items that are not the migration's \(after) are left: a delete query names no exact "
                    + "service and account"
            )
        ]
    }

    private static func repeated(_ evidence: AttemptEvidence) -> [FailureFinding] {
        let claim = evidence.verification?.status.migration
        guard let claim, claim.outcome == .alreadyMigrated, !claim.wrote else { return [] }
        return [
            FailureFinding(
                "G2",
                "the second start says already-migrated and that it wrote nothing, and the item was written again: "
                    + "something beside the migration writes at every start"
            )
        ]
    }
}
