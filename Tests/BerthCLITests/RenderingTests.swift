import BerthCore
import Testing

@testable import berth

@Suite("Rendering")
struct RenderingTests {
    @Test("Columns are aligned, and no cell can command the terminal")
    func table() {
        var table = Table("NAME", "STATE")
        table.add("über-lang", "ok")
        table.add("x", "evil\u{1B}[2J\nline")
        #expect(table.lines[0] == "NAME       STATE")
        #expect(table.lines[1] == "über-lang  ok")
        #expect(table.lines[2] == "x          evil\\u{1B}[2J\\nline")
        #expect(Table("A").text(ifEmpty: "Nothing.") == "Nothing.\n")
    }

    /// A screen that understands what `LiveTable` writes.
    private struct Screen {
        var lines: [String] = [""]
        var row = 0

        mutating func write(_ text: String) {
            var rest = text[...]
            while let character = rest.popFirst() {
                switch character {
                case "\u{1B}":
                    let end = rest.firstIndex { $0.isLetter } ?? rest.endIndex
                    let number = Int(rest[..<end].dropFirst()) ?? 0
                    if rest[end] == "A" { row -= number }
                    if rest[end] == "J" { lines = Array(lines[..<row]) + [""] }
                    rest = rest[rest.index(after: end)...]
                case "\r": break
                case "\n":
                    row += 1
                    if row == lines.count { lines.append("") }
                default: lines[row].append(character)
                }
            }
        }
    }

    @Test("A live table replaces itself, whether it grows, shrinks or does not fit")
    func live() {
        var screen = Screen()
        var table = LiveTable()
        screen.write("before\n")
        let size = Console.Size(columns: 11, rows: 5)
        for lines in [["one", "two"], ["uno", "dos", "tres"], ["a line that is too long"]] {
            screen.write(table.show(lines, on: size))
            #expect(screen.lines == ["before"] + lines.map { String($0.prefix(10)) } + [""])
        }
        screen.write(table.show((1...9).map { "line \($0)" }, on: Console.Size(columns: 40, rows: 5)))
        #expect(screen.lines == ["before", "line 1", "line 2", "line 3", "… and 6 more lines", ""])
    }

    @Test("Durations and sizes are said in units that fit")
    func units() {
        #expect([999, 12_345, 3_725_000].map(PlainText.duration) == ["999 ms", "12.3 s", "62 min 5 s"])
        #expect([999, 1_440, 512_000_000].map(PlainText.size) == ["999 B", "1.4 kB", "512.0 MB"])
        #expect(PlainText.time(1_790_000_000_000) == "2026-09-21 14:13:20Z")
    }
}
