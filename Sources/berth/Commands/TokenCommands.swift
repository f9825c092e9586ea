import BerthCore

/// Makes a token.
struct TokenAddCommand: Command {
    static let description = CommandDescription(
        name: "token add",
        summary: "Make a token for a person or a program.",
        operands: [
            .init(name: "NAME", help: "whose it is: the submitter of its batches, the actor in the audit"),
            .init(name: "ROLE", help: "viewer, submitter or operator"),
        ],
        discussion: "The token is written to standard output, once: nobody can tell it again."
    )

    private let request: TokenRequest

    init(_ arguments: ParsedArguments) throws {
        guard let role = TokenRole(rawValue: arguments.operands[1]) else {
            let given = arguments.operands[1].debugDescription
            throw arguments.failure("a role is viewer, submitter or operator, not \(given)")
        }
        request = TokenRequest(name: arguments.operands[0], role: role)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(APIClient.path("tokens"), request, as: TokenView.self)
        context.show(answer) { PlainText.safe($0.token ?? "") + "\n" }
        return .success
    }
}

/// Lists tokens.
struct TokenListCommand: Command {
    static let description = CommandDescription(
        name: "token list",
        summary: "List the tokens with their roles, without their values."
    )

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        context.show(try await context.client.get(APIClient.path("tokens"), as: [TokenView].self)) { tokens in
            var table = Table("TOKEN", "ROLE")
            for token in tokens { table.add(token.name, token.role) }
            return table.text(ifEmpty: "There is no token.")
        }
        return .success
    }
}

/// Makes a token worthless.
struct TokenRevokeCommand: Command {
    static let description = CommandDescription(
        name: "token revoke",
        summary: "Make a token worthless, at once.",
        operands: [.init(name: "NAME", help: "whose it is")],
        discussion: "Batches that were submitted with it go on. The last operator's token cannot be revoked."
    )

    private let name: String

    init(_ arguments: ParsedArguments) throws {
        name = arguments.operands[0]
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(
            APIClient.path("tokens", name, "revoke"),
            [String: String](),
            as: TokenView.self
        )
        context.show(answer) { PlainText.safe("\($0.name) (\($0.role)) is revoked") + "\n" }
        return .success
    }
}
