extension PlainText {
    /// A text in lines of at most `width` characters, broken between words only. The first line begins with `first`, the
    /// others with `indent`.
    static func wrap(_ text: String, width: Int, first: String = "", indent: String) -> String {
        var lines: [String] = []
        var line = first
        var isEmpty = true
        for word in text.split(separator: " ", omittingEmptySubsequences: true) {
            if isEmpty {
                line += word
            } else if line.count + 1 + word.count <= width {
                line += " \(word)"
            } else {
                lines.append(line)
                line = indent + word
            }
            isEmpty = false
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
