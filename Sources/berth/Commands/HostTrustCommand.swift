import BerthCore

/// Accepts another key of a host.
struct HostTrustCommand: Command {
    static let description = CommandDescription(
        name: "host trust",
        summary: "Accept another key of a host that was set up anew.",
        operands: [.init(name: "HOST", help: "the host's name")],
        options: [
            .init(
                name: "--fingerprint",
                kind: .value("SHA256:…"),
                help: "of the host's new key, as `ssh-keygen -lf` prints it on the host's own console"
            ),
            .init(
                name: "--withdraw",
                kind: .flag,
                help:
                    "in place of --fingerprint: a key that was named before the host showed it is not expected any more"
            ),
        ],
        discussion: """
            The key is pinned only if the host shows the one with this fingerprint. If the host cannot be reached yet, or
            still shows its pinned key, the fingerprint is remembered, and the key is pinned as soon as the host shows it.
            Any other key stays refused. `berth audit` tells who accepted which key.
            """
    )

    private let host: String
    /// Absent: what was announced is withdrawn.
    private let fingerprint: String?

    init(_ arguments: ParsedArguments) throws {
        host = arguments.operands[0]
        if arguments.has("--withdraw") {
            guard !arguments.has("--fingerprint") else {
                throw arguments.failure("give --fingerprint or --withdraw, not both")
            }
            fingerprint = nil
            return
        }
        guard let fingerprint = arguments.value("--fingerprint") else {
            throw arguments.failure("--fingerprint SHA256:… is missing")
        }
        self.fingerprint = fingerprint
        guard fingerprint.wholeMatch(of: /SHA256:[A-Za-z0-9+\/]{43}/) != nil else {
            throw arguments.failure(
                "\(fingerprint.debugDescription) is no fingerprint: write it as `ssh-keygen -lf` prints it, SHA256:…"
            )
        }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        guard let fingerprint else {
            let answer = try await context.client.post(
                APIClient.path("hosts", host, "trust", "withdraw"),
                [String: String](),
                as: HostTrustView.self
            )
            context.show(answer) { PlainText.safe(Self.text($0, $0.former ?? "")) + "\n" }
            return .success
        }
        let answer = try await context.client.post(
            APIClient.path("hosts", host, "trust"),
            HostTrustRequest(fingerprint: fingerprint),
            as: HostTrustView.self
        )
        context.show(answer) { PlainText.safe(Self.text($0, fingerprint)) + "\n" }
        return .success
    }

    private static func text(_ view: HostTrustView, _ fingerprint: String) -> String {
        switch view.state {
        case .trusted:
            return "\(view.host) is pinned to \(view.pinned) in place of \(view.former ?? "another key")"
        case .withdrawn:
            return "\(fingerprint) is not expected of \(view.host) any more, which stays pinned to \(view.pinned)"
        case .unchanged: return "\(view.host) was pinned to \(view.pinned) already"
        case .expected:
            let reason = view.problem.map { "the host could not be asked (\($0))" }
            return "\(view.host) stays pinned to \(view.pinned): \(reason ?? "the host still shows its pinned key"). "
                + "\(fingerprint) is pinned as soon as the host shows it"
        }
    }
}
