/// Lines on a terminal that are replaced in place. A value: it says what to write, the caller writes it.
struct LiveTable {
    private var height = 0

    /// What to write so that these lines stand where the former ones stood. Lines are cut to the terminal's width,
    /// since a wrapped one would be counted wrongly; of too many lines the last are replaced by their number.
    mutating func show(_ lines: [String], on terminal: Console.Size) -> String {
        let room = max(1, terminal.rows - 1)
        var shown = lines
        if lines.count > room {
            shown = Array(lines.prefix(room - 1))
            shown.append("… and \(lines.count - room + 1) more lines")
        }
        // Not more rows up than the screen has now: it may have been made smaller.
        let up = min(height, room)
        var text = up > 0 ? "\u{1B}[\(up)A\r" : ""
        text += "\u{1B}[J"
        for line in shown { text += line.prefix(max(1, terminal.columns - 1)) + "\n" }
        height = shown.count
        return text
    }
}
