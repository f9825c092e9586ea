import BerthCore

/// A run as a story on one screen: the verdict, what is broken and why, what happened, the items, the entitlements.
struct RunReport: Sendable {
    let run: RunView
    /// Longest line, where the words allow it.
    let width: Int
    /// Whether every detail is shown.
    let full: Bool
    let style: TextStyle

    /// What stands above the attempts.
    var head: String {
        let word = run.verdict?.rawValue ?? run.state.rawValue
        let verdict =
            switch run.verdict {
            case .passed: style.good(word)
            case nil: word
            default: style.bad(word)
            }
        let builds = zip(run.buildNames, run.pins.path).map { "\($0) (\($1.short))" }
        var text = "\(style.bold("run \(run.id)")) \(verdict): \(PlainText.safe(PlainText.path(builds)))\n"
        let digest = full ? " (\(run.pins.caseDigest))" : ""
        text += "case \(PlainText.safe(run.pins.caseName))\(digest) on \(run.pins.platform.rawValue) \(run.pins.os), "
        text += "batch \(run.batch)\n"
        if let labels = run.labels {
            let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            text += "labels \(PlainText.safe(pairs.joined(separator: ", ")))\n"
        }
        if let replays = run.replays { text += "replays \(replays)\n" }
        if !full, run.finishedAt != nil { return text }
        let finished = run.finishedAt.map { "finished \(PlainText.time($0))" } ?? "not finished, \(run.state.rawValue)"
        return text + "submitted \(PlainText.time(run.submittedAt)), \(finished)\n"
    }

    /// An attempt in one line, for those that are not the one to look at.
    func summary(_ attempt: AttemptView) -> String {
        let outcome = attempt.outcome?.rawValue ?? attempt.state.rawValue
        let cause = attempt.cause.map { ": \($0)" } ?? ""
        let line = "attempt \(attempt.id) \(outcome) on \(attempt.slot) of \(attempt.host)\(cause)"
        return PlainText.wrap(PlainText.safe(line), width: width, indent: "  ") + "\n"
    }

    /// An attempt with all that its evidence tells.
    func story(_ attempt: AttemptView, _ evidence: AttemptEvidence) -> String {
        let outcome = attempt.outcome?.rawValue ?? attempt.state.rawValue
        var head = "attempt \(attempt.id) \(outcome) on \(attempt.slot) of \(attempt.host), epoch \(attempt.epoch)"
        if let report = attempt.report {
            head += ", took \(PlainText.duration(max(0, report.endedAt - report.startedAt)))"
        }
        var text = PlainText.safe(head) + "\n"
        if let progress = attempt.progress { text += "now: \(PlainText.safe(progress))\n" }
        text += judgement(attempt, evidence)
        text += LaunchTimeline(attempt, evidence).text(width: width, full: full, style: style)
        if full { text += codes(evidence) }
        let items = ContractComparison(evidence)
        text += items.text(width: width, style: style)
        if let fate = items.fate { text += "    old item in the new build: \(PlainText.safe(fate))\n" }
        text += EntitlementText(evidence).text(width: width, full: full, style: style)
        text += proof(evidence)
        text += whereabouts(attempt)
        for problem in evidence.problems {
            text += PlainText.wrap("cannot be shown: \(PlainText.safe(problem))", width: width, indent: "  ") + "\n"
        }
        return text
    }

    // MARK: Parts

    /// The checks by rule ID, what the broken ones demand, and what the evidence points to.
    private func judgement(_ attempt: AttemptView, _ evidence: AttemptEvidence) -> String {
        var text = ""
        let findings = FailureFinding.all(attempt, evidence)
        let hidden = findings.isEmpty || full
        for check in attempt.checks where check.state == .broken {
            let meaning = check.id.meaning ?? "what the case decides"
            text += style.bad("\(check.id) broken") + ": \(PlainText.safe(meaning))\n"
            if hidden, let reason = check.reason { text += paragraph(reason) }
        }
        for finding in findings { text += paragraph("because (\(finding.rule)) \(finding.sentence)") }
        let broken = attempt.checks.contains { $0.state == .broken }
        if let cause = attempt.cause, !broken { text += paragraph("\(cause)", indent: "") }
        let held = attempt.checks.filter { $0.state == .held }.map(\.id.text)
        if !held.isEmpty { text += "held: \(held.joined(separator: ", "))\n" }
        for check in attempt.checks where check.state == .undecided {
            text += paragraph("\(check.id) undecided: \(check.reason ?? "")", indent: "")
        }
        return text
    }

    private func paragraph(_ words: String, indent: String = "  ") -> String {
        PlainText.wrap(PlainText.safe(words), width: width, first: indent, indent: indent + "  ") + "\n"
    }

    /// Censuses and continuity.
    private func proof(_ evidence: AttemptEvidence) -> String {
        guard !evidence.launches.isEmpty else { return "" }
        let counts = evidence.launches.map { launch in
            let status = launch.status
            func side(_ census: StatusFile.Census?) -> String {
                census.map { "\($0.ownSuffix)+\($0.bystanders)" } ?? "?"
            }
            return "\(status.phase.rawValue) \(side(status.census))→\(side(status.censusAfter))"
        }
        var text = paragraph("census (own+other items): \(counts.joined(separator: ", "))", indent: "")
        let numbers = evidence.launches.map { "\($0.status.launch)" }.joined(separator: ", ")
        let markers = evidence.launches.compactMap { launch in
            launch.status.phase == .verify ? launch.status.epochMarker.map { "\($0)" } : nil
        }
        text += "continuity: launches \(numbers) in one container"
        return text + (markers.last.map { ", the seed's epoch marker \($0) found\n" } ?? "\n")
    }

    /// What each OSStatus that came usually means for a migration (D1).
    private func codes(_ evidence: AttemptEvidence) -> String {
        let codes = Set(evidence.launches.flatMap { $0.status.steps.map(\.status) }).sorted().map(StatusCode.init)
        return codes.map { code in
            guard let meaning = code.meaning else { return "" }
            return paragraph("D1 \(code), \(code.family.rawValue): \(meaning)")
        }.joined()
    }

    /// Where to look further.
    private func whereabouts(_ attempt: AttemptView) -> String {
        guard let report = attempt.report else { return "" }
        var text = ""
        if let device = report.preservedDevice {
            text += "device kept (E2): \(PlainText.safe(device)) on \(attempt.slot) of \(attempt.host)\n"
            text += "  open it: berth device open \(PlainText.safe(device))\n"
        }
        let name = full ? report.evidence.description : "\(report.evidence.short) in the archive"
        let hint = full ? "" : "; all of it: --full"
        text += "evidence: \(report.files.count) files, manifest \(name)\(hint)\n"
        guard full else { return text }
        let device = "\(report.device.model), \(report.device.platform.rawValue) \(report.device.os)"
        text += PlainText.safe("device: \(device), agent \(report.agentVersion)") + "\n"
        for (tool, version) in report.tools.sorted(by: { $0.key < $1.key }) {
            text += "tool: \(PlainText.safe("\(tool) \(version)"))\n"
        }
        var table = Table("  FILE", "SIZE", "BLOB")
        for file in report.files { table.add("  \(file.path)", PlainText.size(file.size), file.digest.description) }
        return text + table.text(ifEmpty: "")
    }
}
