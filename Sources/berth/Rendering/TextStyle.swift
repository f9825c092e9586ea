/// Colour and weight for a terminal; plain text everywhere else.
struct TextStyle: Sendable {
    let isEnabled: Bool

    static let plain = TextStyle(isEnabled: false)

    /// What the output can bear: nothing unless it is a terminal, and nothing when `NO_COLOR` is set.
    init(terminal: Console.Size?, environment: [String: String]) {
        let isRefused = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
        self.init(isEnabled: terminal != nil && !isRefused)
    }

    private init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    func bold(_ text: String) -> String { wrap(text, "1") }
    /// For what is broken or gone.
    func bad(_ text: String) -> String { wrap(text, "31") }
    /// For what held or came.
    func good(_ text: String) -> String { wrap(text, "32") }
    /// For what is there for completeness.
    func faint(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: String) -> String {
        isEnabled ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
