/// What follows a verb.
struct Arguments {
    let all: [String]
    private let verb: String

    init(_ all: [String], verb: String) {
        self.all = all
        self.verb = verb
    }

    /// Everything that is no option.
    var positional: [String] { all.filter { !$0.hasPrefix("-") } }

    /// The positional arguments, if their number is right and every option is known.
    ///
    /// - Throws: `Simctl.UsageError`
    func positional(_ count: ClosedRange<Int>, options: Set<String> = []) throws -> [String] {
        if let unknown = all.first(where: { $0.hasPrefix("-") && !options.contains($0) }) {
            throw Simctl.usage(of: verb, "Unrecognized option: \(unknown)")
        }
        let positional = positional
        guard count.contains(positional.count) else { throw Simctl.usage(of: verb, nil) }
        return positional
    }

    func has(_ options: String...) -> Bool {
        options.contains { all.contains($0) }
    }

    func usageError(_ message: String?) -> Simctl.UsageError {
        Simctl.usage(of: verb, message)
    }
}
