/// Options of a command: `--name value` pairs and flags, each at most once.
package struct CommandArguments: Sendable {
    private var values: [String: String] = [:]

    /// Reads the arguments of a command that takes the `known` options and `flags`, given with their dashes.
    /// - Throws: `AgentFailure` of status `usage`
    package init(_ arguments: some Sequence<String>, known: [String], flags: [String] = []) throws {
        var iterator = arguments.makeIterator()
        while let name = iterator.next() {
            guard known.contains(name) || flags.contains(name) else {
                let all = (known + flags).joined(separator: ", ")
                throw AgentFailure(.usage, "unknown option \(name); there are \(all)")
            }
            guard let value = flags.contains(name) ? "given" : iterator.next(), !value.isEmpty else {
                throw AgentFailure(.usage, "\(name) needs a value")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw AgentFailure(.usage, "\(name) is given twice")
            }
        }
    }

    /// Whether a flag was given.
    package func has(_ flag: String) -> Bool { values[flag] != nil }

    package func optional(_ name: String) -> String? { values[name] }

    /// - Throws: `AgentFailure` of status `usage`
    package func required(_ name: String) throws -> String {
        guard let value = values[name] else { throw AgentFailure(.usage, "\(name) is missing") }
        return value
    }

    /// A whole number within a range.
    /// - Throws: `AgentFailure` of status `usage`
    package func number(_ name: String, in range: ClosedRange<Int>, default standard: Int) throws -> Int {
        guard let text = values[name] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw AgentFailure(.usage, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
