import BerthCore

extension ParsedArguments {
    /// The value of an option that says a time ahead, as it was written: the coordinator counts from its own clock.
    /// - Throws: `UsageError`
    func deadline(_ option: String) throws(UsageError) -> String? {
        guard let text = value(option) else { return nil }
        guard Deadline(text) != nil else {
            throw failure("\(option) must be \(Deadline.accepted), not \(text.debugDescription)")
        }
        return text
    }

    /// A label as `key:value`, of a key that slots have.
    /// - Throws: `UsageError`
    func label(_ text: String, _ what: String) throws(UsageError) -> String {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, SlotLabel(rawValue: parts[0]) != nil, !parts[1].isEmpty else {
            throw failure(
                "\(what) must be KEY:VALUE with one of the keys \(SlotLabel.list), not \(text.debugDescription)"
            )
        }
        return text
    }
}
