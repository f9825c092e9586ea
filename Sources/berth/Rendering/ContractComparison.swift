import BerthCore

/// The five contract fields of the old and the new item side by side (C1), from an attempt's status files.
struct ContractComparison: Sendable {
    private let old: StatusFile.Item?
    private let new: StatusFile.Item?
    /// The old item as the new build looked for it last.
    private let sought: StatusFile.Item?
    private let suffix: String

    init(_ evidence: AttemptEvidence) {
        // The old item is shown as the old build read it back; after the migration it may be gone.
        let seen = evidence.launches.compactMap { $0.status.item(.legacy) }
        old = seen.first { $0.read == .found } ?? seen.first
        // The cleanup deletes the new item, which says nothing about the migration.
        let last = evidence.launches.last { $0.status.phase != .cleanup && $0.status.item(.target) != nil }
        new = last?.status.item(.target)
        sought = evidence.verification?.status.item(.legacy)
        suffix = evidence.launches.first.map { FailureFinding.suffix($0.status) } ?? ""
    }

    var isEmpty: Bool { old == nil && new == nil }

    /// How the old item reads in the new build's eyes, in a line; nil when nobody looked.
    var fate: String? {
        guard let sought, old != nil else { return nil }
        return sought.read == .found ? Self.read(sought) : StatusCode(sought.status).description
    }

    /// Rows of field, mark, old and new value; the fields in which both differ are marked.
    var rows: [(field: String, differs: Bool, old: String, new: String)] {
        ContractField.allCases.map { field in
            let left = old.map { field.words($0.contract, suffix: suffix) }
            let right = new.map { field.words($0.contract, suffix: suffix) }
            let differs = left != nil && right != nil && left != right
            return (field.rawValue, differs, left ?? "", right ?? "")
        }
    }

    /// The comparison as text of at most `width` columns where the values allow it.
    func text(width: Int, style: TextStyle) -> String {
        guard !isEmpty else { return "" }
        var rows = rows
        rows.append(("as read", false, old.map(Self.read) ?? "", new.map(Self.read) ?? ""))
        let name = rows.map(\.field.count).max() ?? 0
        let left = max("OLD ITEM".count, rows.map { $0.old.count }.max() ?? 0)
        let right = max("NEW ITEM".count, rows.map { $0.new.count }.max() ?? 0)
        let isNarrow = 6 + name + left + 2 + right > width
        func pad(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let title = "ITEMS (C1, ≠)"
        var text = style.bold(title)
        if isNarrow {
            text += "\n"
        } else {
            text += pad("", max(2, 6 + name - title.count)) + style.bold(pad("OLD ITEM", left) + "  NEW ITEM") + "\n"
        }
        for row in rows {
            let mark = row.differs ? "≠" : " "
            let cells = (PlainText.safe(row.old), PlainText.safe(row.new))
            let head = "  \(mark) \(pad(row.field, name))  "
            let line: String
            if !isNarrow {
                line = "\(head)\(pad(cells.0, left))  \(cells.1)"
            } else if row.differs || row.field == "as read" {
                line = "\(head)old \(cells.0)\n\(pad("", head.count))new \(cells.1)"
            } else {
                line = head + (cells.0.isEmpty ? cells.1 : cells.0)
            }
            text += (row.differs ? style.bad(Self.trimmed(line)) : Self.trimmed(line)) + "\n"
        }
        return text
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }

    private static func read(_ item: StatusFile.Item) -> String {
        let code = StatusCode(item.status)
        switch (item.read, item.content) {
        case (.found, .matches): return "found, the seeded content"
        case (.found, .differs): return "found, OTHER content"
        case (.found, .unread): return "found, content unread"
        case (.missing, _), (.failed, _): return "\(item.status) \(code.name ?? item.read.rawValue)"
        }
    }
}
