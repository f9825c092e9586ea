import BerthCore

/// What changed in the entitlements, and what that means (S1).
struct EntitlementText: Sendable {
    /// Most changed lines and explanations on one screen.
    private static let lineLimit = 6
    private static let changeLimit = 3

    private let evidence: AttemptEvidence

    init(_ evidence: AttemptEvidence) {
        self.evidence = evidence
    }

    /// The changed lines with their explanation; `full` shows whole diffs, all changes, and what was noted.
    func text(width: Int, full: Bool, style: TextStyle) -> String {
        let title = style.bold("ENTITLEMENTS (S1)")
        guard let report = evidence.entitlements else {
            // Agents before this comparison left the files alone.
            return evidence.launches.isEmpty ? "" : "\(title)  not compared in this attempt's evidence\n"
        }
        var text = "\(title)  "
        if let comparison = evidence.comparison {
            if comparison.changes.isEmpty {
                let groups = evidence.accessGroups(.new)?.joined(separator: ", ") ?? "none"
                text += "unchanged; access groups: \(PlainText.safe(groups))\n"
            } else {
                text += "changed from the \(comparison.old.rawValue) to the \(comparison.new.rawValue) build\n"
            }
        } else {
            text += report.builds.count < 2 ? "of one build only\n" : "cannot be compared\n"
        }
        let shown = full ? report.comparisons : Array(report.comparisons.prefix(1))
        for comparison in shown { text += changes(comparison, width: width, full: full, style: style) }
        for build in report.builds {
            var notes = build.signing.notes
            if let difference = build.codesignDifference { notes.append(difference) }
            for note in notes { text += line("note on the \(build.role.rawValue) build: \(note)", width) }
        }
        return text
    }

    private func changes(
        _ comparison: EntitlementReport.Comparison,
        width: Int,
        full: Bool,
        style: TextStyle
    ) -> String {
        var text = ""
        let diff = comparison.diff.flatMap { evidence.diffs[$0] } ?? ""
        var lines = diff.split(separator: "\n").map(String.init)
        if !full {
            lines = lines.filter { line in
                (line.hasPrefix("+") || line.hasPrefix("-")) && !line.hasPrefix("+++") && !line.hasPrefix("---")
            }
            var seen: [String] = []
            lines = lines.compactMap { line in
                let short = "\(line.prefix(1)) \(line.dropFirst().drop { $0 == "\t" || $0 == " " })"
                guard !seen.contains(short) else { return nil }
                seen.append(short)
                return short
            }
        }
        let limit = full ? lines.count : Self.lineLimit
        for line in lines.prefix(limit) {
            let safe = "    \(PlainText.safe(line.replacing("\t", with: "    ")))"
            text += (line.hasPrefix("-") ? style.bad(safe) : line.hasPrefix("+") ? style.good(safe) : safe) + "\n"
        }
        if lines.count > limit { text += "    … \(lines.count - limit) more changed lines: --full\n" }
        let count = full ? comparison.changes.count : Self.changeLimit
        for change in comparison.changes.prefix(count) { text += line("\(change.rule) \(change.meaning)", width) }
        if comparison.changes.count > count {
            text += "  … \(comparison.changes.count - count) more changes: --full\n"
        }
        return text
    }

    private func line(_ text: String, _ width: Int) -> String {
        PlainText.wrap(PlainText.safe(text), width: width, first: "  ", indent: "     ") + "\n"
    }
}
