/// What a command accepts, for the parser and for its help.
struct CommandDescription: Sendable {
    /// An argument without a name of its own.
    struct Operand: Sendable {
        enum Count: Sendable {
            case atMostOne
            case one
            case oneOrMore
        }

        let name: String
        let help: String
        var count = Count.one

        /// The operand as help writes it.
        var usage: String {
            switch count {
            case .atMostOne: "[\(name)]"
            case .one: name
            case .oneOrMore: "\(name)…"
            }
        }
    }

    /// A named argument.
    struct Option: Sendable {
        enum Kind: Sendable {
            /// Present or not.
            case flag
            /// One value, at most once.
            case value(String)
            /// One or more values, up to the next option; may be repeated.
            case values(String)
        }

        /// With its two dashes.
        let name: String
        let kind: Kind
        let help: String
        var isRequired = false

        /// The option as help writes it, such as `--new REF…`.
        var usage: String {
            switch kind {
            case .flag: name
            case .value(let value): "\(name) \(value)"
            case .values(let value): "\(name) \(value)…"
            }
        }
    }

    /// Such as `build add`.
    let name: String
    let summary: String
    var operands: [Operand] = []
    var options: [Option] = []
    /// What else a user should know.
    var discussion = ""

    /// What every command accepts.
    static let common = [
        Option(
            name: "--coordinator",
            kind: .value("URL"),
            help: "where the coordinator listens; otherwise BERTH_COORDINATOR"
        ),
        Option(
            name: "--token-file",
            kind: .value("FILE"),
            help: "file that holds your token; otherwise BERTH_TOKEN or BERTH_TOKEN_FILE"
        ),
        Option(name: "--json", kind: .flag, help: "print the API's JSON instead of text"),
        Option(name: "--help", kind: .flag, help: "print this"),
    ]

    var allOptions: [Option] { options + Self.common }

    /// The command's own help page.
    var help: String {
        let required = options.filter(\.isRequired).map(\.usage)
        let optional = options.filter { !$0.isRequired }.map { "[\($0.usage)]" }
        let usage =
            ["berth \(name)"] + operands.map(\.usage) + required + optional
        var text = "\(summary)\n\nUsage: \(usage.joined(separator: " "))\n"
        text += Self.section("Arguments", operands.map { ($0.name, $0.help) })
        text += Self.section("Options", options.map { ($0.usage, $0.help) })
        text += Self.section("Options of every command", Self.common.map { ($0.usage, $0.help) })
        if !discussion.isEmpty { text += "\n\(discussion)\n" }
        return text
    }

    /// A headed list with aligned explanations.
    static func section(_ title: String, _ rows: [(String, String)]) -> String {
        guard !rows.isEmpty else { return "" }
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { "  \($0.0)\(String(repeating: " ", count: width - $0.0.count))  \($0.1)" }
        return "\n\(title):\n\(lines.joined(separator: "\n"))\n"
    }
}
