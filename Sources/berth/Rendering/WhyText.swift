import BerthCore

/// The scheduler's reasons on one screen.
enum WhyText {
    /// So many names of slots with the same reasons are listed.
    private static let nameLimit = 8

    static func text(_ why: RunWhyView) -> String {
        var lines = [why.summary]
        if let ahead = why.ahead, why.slots.contains(where: \.isMatch) {
            lines.append(
                ahead == 0
                    ? "No run goes before it."
                    : "\(count(ahead, "run")) \(ahead == 1 ? "goes" : "go") before it on slots that could take it."
            )
        }
        let matching = why.slots.filter(\.isMatch)
        lines += section("Could take it now", matching.filter(\.reasons.isEmpty))
        lines += section("Could take it, and kept from it now", matching.filter { !$0.reasons.isEmpty })
        lines += section("Never", why.slots.filter { !$0.isMatch })
        return lines.map { PlainText.safe($0) + "\n" }.joined()
    }

    static func text(_ why: SlotWhyView) -> String {
        var lines = [why.summary] + why.reasons.map { "  \($0)" }
        let (here, elsewhere) = (why.waiting.filter(\.reasons.isEmpty), why.waiting.filter { !$0.reasons.isEmpty })
        lines.append("")
        if why.waiting.isEmpty { lines.append("No run waits.") }
        for waiting in here { lines.append("\(count(waiting.count, "run")) that could go here now") }
        for waiting in elsewhere {
            lines.append("\(count(waiting.count, "run")) not here:")
            lines += waiting.reasons.map { "  \($0)" }
        }
        return lines.map { PlainText.safe($0) + "\n" }.joined()
    }

    /// Slots below a heading; those with the same host and reasons together.
    private static func section(_ title: String, _ slots: [SlotReasons]) -> [String] {
        guard !slots.isEmpty else { return [] }
        var groups: [(host: String, reasons: [String], names: [String])] = []
        for slot in slots {
            if let index = groups.firstIndex(where: { $0.host == slot.host && $0.reasons == slot.reasons }) {
                groups[index].names.append(slot.slot)
            } else {
                groups.append((slot.host, slot.reasons, [slot.slot]))
            }
        }
        var lines = ["", "\(title) (\(count(slots.count, "slot"))):"]
        for group in groups {
            let more = group.names.count > nameLimit ? " and \(group.names.count - nameLimit) more" : ""
            lines.append("  \(group.names.prefix(nameLimit).joined(separator: ", "))\(more) on \(group.host)")
            lines += group.reasons.map { "      \($0)" }
        }
        return lines
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
