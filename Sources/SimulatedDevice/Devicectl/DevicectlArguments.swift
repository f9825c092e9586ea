/// What follows `devicectl`: the words of a verb, options anywhere up to `--`, and the rest.
struct DevicectlArguments {
    /// A wrong call.
    struct UsageError: Error {
        let message: String
    }

    private static let valued: Set<String> = [
        "--device", "--json-output", "--timeout", "--domain-type", "--domain-identifier", "--subdirectory", "--source",
        "--destination", "--pid", "--environment-variables", "--bundle-id", "--filter", "--user", "--log-output",
    ]
    private static let flags: Set<String> = [
        "--quiet", "--terminate-existing", "--kill", "--verbose", "--recurse", "--include-all-apps",
    ]
    private static let short = ["-d": "--device", "-j": "--json-output", "-t": "--timeout", "-q": "--quiet"]

    /// All words as they were given.
    let all: [String]
    let words: [String]
    private let options: [String: String]
    private let given: Set<String>

    init(_ arguments: [String]) throws {
        all = arguments
        var words: [String] = []
        var options: [String: String] = [:]
        var given: Set<String> = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                words += rest
                break
            }
            guard argument.hasPrefix("-"), argument.count > 1 else {
                words.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            let name = Self.short[parts[0]] ?? parts[0]
            if Self.flags.contains(name) {
                given.insert(name)
            } else if Self.valued.contains(name) {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw UsageError(message: "Missing value for '\(name) <\(name.dropFirst(2))>'")
                }
                options[name] = value
            } else {
                // As with Apple's tool, an app's arguments are taken for options unless `--` stands before them.
                throw UsageError(message: "Unknown option '\(argument)'")
            }
        }
        self.words = words
        self.options = options
        self.given = given
        if let timeout = options["--timeout"] {
            guard let seconds = Int(timeout), seconds >= 5 else {
                throw UsageError(message: "The value '\(timeout)' is invalid for '--timeout <seconds>': at least 5")
            }
        }
    }

    func has(_ flag: String) -> Bool { given.contains(flag) }
    func value(_ option: String) -> String? { options[option] }

    /// - Throws: `UsageError`
    func required(_ option: String) throws -> String {
        guard let value = options[option] else { throw UsageError(message: "Missing expected argument '\(option)'") }
        return value
    }
}
