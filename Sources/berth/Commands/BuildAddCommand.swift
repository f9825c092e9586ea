import BerthCore

/// Archives app bundles.
struct BuildAddCommand: Command {
    static let description = CommandDescription(
        name: "build add",
        summary: "Archive app bundles, so that runs can use them.",
        operands: [.init(name: "APP", help: "path of an .app folder", count: .oneOrMore)],
        options: [
            .init(
                name: "--name",
                kind: .value("NAME"),
                help: "the build's name, instead of its folder's; for a single bundle"
            )
        ],
        discussion: """
            Only files that the archive lacks are sent. The build's ID is the digest of its whole tree and name, so
            adding the same bundle again changes nothing.
            """
    )

    private let paths: [String]
    private let name: String?

    init(_ arguments: ParsedArguments) throws {
        paths = arguments.operands
        name = arguments.value("--name")
        guard let name else { return }
        guard paths.count == 1 else { throw arguments.failure("--name can name only one bundle") }
        guard !name.isEmpty, !name.contains("/") else {
            throw arguments.failure(
                "\(name.debugDescription) cannot name a build: it must be plain text without slashes"
            )
        }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        for path in paths {
            let result = try await BuildUpload(client: context.client).archive(path, name: name)
            context.show(result.answer) { build in
                let news = result.answer.status == 201 ? "archived" : "was archived already"
                let sent =
                    result.sentFiles == 0
                    ? "nothing to send" : "\(result.sentFiles) sent, \(PlainText.size(result.sentSize))"
                let line =
                    "\(build.description.name) \(news) as \(build.id.short): version \(build.description.version) "
                    + "(\(build.description.number)), \(build.description.platform.rawValue), "
                    + "\(result.files) files, \(sent)"
                return PlainText.safe(line) + "\n"
            }
        }
        return .success
    }
}
