import BerthCore

/// An attempt's steps in order, each launch with the OSStatus of what the app and the probe did.
struct LaunchTimeline: Sendable {
    private let attempt: AttemptView
    private let evidence: AttemptEvidence

    init(_ attempt: AttemptView, _ evidence: AttemptEvidence) {
        self.attempt = attempt
        self.evidence = evidence
    }

    /// One line a step and a few for each launch; `full` shows every operation and every problem in its own words.
    func text(width: Int, full: Bool, style: TextStyle) -> String {
        guard let report = attempt.report, !report.steps.isEmpty else { return "" }
        var text = style.bold("TIMELINE") + "\n"
        let name = report.steps.map(\.title.count).max() ?? 0
        var rest = evidence.launches[...]
        for step in report.steps {
            let title = step.title + String(repeating: " ", count: name - step.title.count)
            let start = PlainText.duration(step.started)
            let began = String(repeating: " ", count: max(0, 7 - start.count)) + start
            let outcome = step.problem == nil ? style.good("ok") : style.bad("FAILED")
            let took = full ? " after \(PlainText.duration(step.duration))" : ""
            text += "  \(began)  \(PlainText.safe(title))  \(outcome)\(took)\n"
            if full, let problem = step.problem { text += lines("problem: \(problem)", width) }
            guard let launch = Self.take(&rest, of: step) else { continue }
            for line in Self.words(launch.status, full: full) { text += lines(line, width) }
        }
        return text
    }

    private func lines(_ text: String, _ width: Int) -> String {
        let first = String(repeating: " ", count: 11)
        return PlainText.wrap(PlainText.safe(text), width: width, first: first, indent: first + "  ") + "\n"
    }

    /// The status file of a step's launch: those that a kill or a crash left without one are passed over.
    private static func take(
        _ rest: inout ArraySlice<AttemptEvidence.Launch>,
        of step: AttemptReport.Step
    ) -> AttemptEvidence.Launch? {
        guard let next = rest.first else { return nil }
        let isCleanup = step.title == "clean up" && next.status.phase == .cleanup
        guard isCleanup || step.title.hasPrefix("launch \(next.status.phase.rawValue)"), !step.title.contains("kill")
        else { return nil }
        return rest.popFirst()
    }

    private static func words(_ status: StatusFile, full: Bool) -> [String] {
        var lines: [String] = []
        if full {
            lines = status.steps.map { "\($0.what): \(StatusCode($0.status))" }
        } else {
            // The codes in the order in which they first came, each with what answered so.
            var codes: [Int32] = []
            for step in status.steps where step.status != 0 && !codes.contains(step.status) {
                codes.append(step.status)
            }
            lines = codes.map { code in
                "\(StatusCode(code)): " + names(status.steps.filter { $0.status == code })
            }
            let fine = status.steps.filter { $0.status == 0 && !$0.what.hasPrefix("census") }
            if !fine.isEmpty { lines.append("0 errSecSuccess: " + names(fine)) }
        }
        if let claim = status.migration {
            lines.append("the app claims \(claim.outcome.rawValue)" + (claim.wrote ? " and that it wrote" : ""))
        }
        return lines
    }

    private static func names(_ steps: [StatusFile.Step]) -> String {
        var names: [String] = []
        for step in steps where !names.contains(step.what) { names.append(step.what) }
        return names.joined(separator: ", ")
    }
}
