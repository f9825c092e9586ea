import BerthCore

/// A run in words: its pins, and each attempt with checks and steps.
enum RunReport {
    static func head(_ run: RunView) -> String {
        let builds = zip(run.buildNames, run.pins.path).map { "\($0) (\($1.short))" }
        var facts = [
            ("run", "\(run.id) of batch \(run.batch)"),
            ("state", run.verdict.map { "\(run.state.rawValue), \($0.rawValue)" } ?? run.state.rawValue),
            ("builds", PlainText.path(builds)),
            ("case", "\(run.pins.caseName) (\(run.pins.caseDigest.short))"),
            ("platform", "\(run.pins.platform.rawValue) \(run.pins.os)"),
        ]
        if let labels = run.labels {
            facts.append(
                ("labels", labels.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
            )
        }
        if let replays = run.replays { facts.append(("replays", replays)) }
        facts.append(("submitted", PlainText.time(run.submittedAt)))
        facts.append(("finished", run.finishedAt.map(PlainText.time) ?? "not yet"))
        return PlainText.facts(facts)
    }

    static func attempt(_ attempt: AttemptView) -> String {
        let outcome = attempt.outcome.map { "\(attempt.state.rawValue), \($0.rawValue)" } ?? attempt.state.rawValue
        var facts = [("state", outcome), ("slot", "\(attempt.slot) on host \(attempt.host), epoch \(attempt.epoch)")]
        if let cause = attempt.cause { facts.append(("cause", cause.description)) }
        if let progress = attempt.progress { facts.append(("now", progress)) }
        if let report = attempt.report {
            facts.append(("took", PlainText.duration(max(0, report.endedAt - report.startedAt))))
            facts.append(("device", "\(report.device.model), \(report.device.platform.rawValue) \(report.device.os)"))
            if let preserved = report.preservedDevice { facts.append(("preserved", "device \(preserved)")) }
            facts.append(("evidence", "\(report.evidence) (\(report.files.count) files)"))
        }
        var text = "attempt \(attempt.id)\n" + PlainText.facts(facts, indent: 2)
        var checks = Table("  CHECK", "STATE", "MEANING", "REASON")
        for check in attempt.checks {
            checks.add("  \(check.id)", check.state.rawValue, check.id.meaning ?? "", check.reason ?? "")
        }
        if !checks.isEmpty { text += checks.text(ifEmpty: "") }
        var steps = Table("  STEP", "AT", "TOOK", "PROBLEM")
        for step in attempt.report?.steps ?? [] {
            steps.add(
                "  \(step.title)",
                PlainText.duration(step.started),
                PlainText.duration(step.duration),
                step.problem ?? ""
            )
        }
        if !steps.isEmpty { text += steps.text(ifEmpty: "") }
        return text
    }
}
