/// Text in aligned columns. No colour, no frame: what a person reads and `awk` can still cut.
struct Table {
    private let header: [String]
    private var rows: [[String]] = []

    init(_ header: String...) {
        self.header = header
    }

    /// Adds a row; cells that it lacks stay empty.
    mutating func add(_ cells: String...) {
        let safe = cells.map(PlainText.safe)
        rows.append(header.indices.map { safe.indices.contains($0) ? safe[$0] : "" })
    }

    var isEmpty: Bool { rows.isEmpty }

    /// One line for the header and one for each row, without blanks at their ends.
    var lines: [String] {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (cell, width) in zip(row, widths) {
                line += cell + String(repeating: " ", count: width - cell.count + 2)
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    /// The table, or a sentence when it has no rows.
    func text(ifEmpty sentence: String) -> String {
        rows.isEmpty ? "\(sentence)\n" : lines.map { "\($0)\n" }.joined()
    }
}
