/// IDs that people can type: a letter and a number that the database counts, such as `r-12`.
enum RecordID: String {
    case batch = "b"
    case run = "r"
    case attempt = "a"
    case reservation = "v"

    /// The written form.
    func text(_ number: Int64) -> String { "\(rawValue)-\(number)" }

    /// Reads the written form; nil for anything else, so that every ID has exactly one spelling.
    func number(_ text: String) -> Int64? {
        guard text.hasPrefix("\(rawValue)-"), let number = Int64(text.dropFirst(2)), number > 0,
            self.text(number) == text
        else { return nil }
        return number
    }
}
