/// A command line after parsing: what was given, by name.
struct ParsedArguments: Equatable, Sendable {
    let command: String
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    /// Reads the words after the command's name.
    /// - Throws: `UsageError`
    init(_ words: [String], for description: CommandDescription) throws(UsageError) {
        command = description.name
        var rest = words[...]
        var onlyOperands = false
        while let word = rest.popFirst() {
            if onlyOperands || !word.hasPrefix("-") || word == "-" {
                operands.append(word)
            } else if word == "--" {
                onlyOperands = true
            } else {
                try take(word == "-h" ? "--help" : word, &rest, description)
            }
        }
        if has("--help") { return }
        try checkOperands(description)
        if let missing = description.options.first(where: { $0.isRequired && values[$0.name] == nil }) {
            throw failure("\(missing.usage) is missing: \(missing.help)")
        }
    }

    /// Whether a flag or option was given.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of an option, or nil if it was not given.
    func value(_ name: String) -> String? { values[name]?.last }

    /// All values of an option.
    func values(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option as a whole number.
    /// - Throws: `UsageError`
    func integer(_ name: String, default fallback: Int, in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let text = value(name) else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            let bounds = "from \(range.lowerBound) to \(range.upperBound)"
            throw failure("\(name) must be a whole number \(bounds), not \(text.debugDescription)")
        }
        return number
    }

    /// The value of an option that is one of a closed set.
    /// - Throws: `UsageError`
    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        default fallback: Word
    ) throws(UsageError) -> Word {
        guard let text = value(name) else { return fallback }
        return try Self.word(text, what: name, command: command)
    }

    /// A text as one of a closed set of words.
    /// - Throws: `UsageError`
    static func word<Word: RawRepresentable<String> & CaseIterable>(
        _ text: String,
        what: String,
        command: String
    ) throws(UsageError) -> Word {
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue)
            let guess = NearestName.of(text, among: known).map { "; did you mean \($0)?" } ?? ""
            throw UsageError(
                message:
                    "\(what) must be one of \(known.joined(separator: ", ")), not \(text.debugDescription)\(guess)",
                command: command
            )
        }
        return word
    }

    /// The value of `--idempotency-key`, which travels in a header.
    /// - Throws: `UsageError`
    func idempotencyKey() throws(UsageError) -> String? {
        let key = value("--idempotency-key")
        if let key, key.isEmpty || !key.utf8.allSatisfy({ (33...126).contains($0) }) || key.utf8.count > 200 {
            throw failure("--idempotency-key must be one word of at most 200 plain ASCII characters")
        }
        return key
    }

    /// A complaint about this command line.
    func failure(_ message: String) -> UsageError { UsageError(message: message, command: command) }

    private mutating func take(
        _ word: String,
        _ rest: inout ArraySlice<String>,
        _ description: CommandDescription
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        guard let option = description.allOptions.first(where: { $0.name == name }) else {
            let guess = NearestName.of(name, among: description.allOptions.map(\.name))
            throw failure("\(name) is no option of `berth \(command)`\(guess.map { "; did you mean \($0)?" } ?? "")")
        }
        switch option.kind {
        case .flag:
            guard attached == nil else { throw failure("\(name) takes no value") }
            values[name] = []
        case .value(let value):
            guard values[name] == nil else { throw failure("\(name) is given twice") }
            guard let text = attached ?? Self.popValue(&rest) else { throw failure("\(name) needs a value: \(value)") }
            values[name] = [text]
        case .values(let value):
            var texts = attached.map { [$0] } ?? []
            while attached == nil, let text = Self.popValue(&rest) { texts.append(text) }
            guard !texts.isEmpty else { throw failure("\(name) needs at least one value: \(value)") }
            values[name, default: []] += texts
        }
    }

    /// The next word unless it is an option; a negative number is none.
    private static func popValue(_ rest: inout ArraySlice<String>) -> String? {
        guard let next = rest.first, !next.hasPrefix("-") || next == "-" || Int(next) != nil else { return nil }
        return rest.removeFirst()
    }

    private func checkOperands(_ description: CommandDescription) throws(UsageError) {
        let expected = description.operands
        let needed = expected.prefix { $0.count != .atMostOne }
        if operands.count < needed.count { throw failure("\(expected[operands.count].name) is missing") }
        let takesMore = expected.last?.count == .oneOrMore
        if operands.count > expected.count, !takesMore {
            throw failure("there is an argument too many: \(operands[expected.count].debugDescription)")
        }
    }
}
