import BerthCore

/// Lists the archive's builds.
struct BuildListCommand: Command {
    static let description = CommandDescription(name: "build list", summary: "List the archived builds, newest first.")

    init(_ arguments: ParsedArguments) throws {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.get(APIClient.path("builds"), as: [BuildRecord].self)
        context.show(answer) { builds in
            var table = Table("NAME", "ID", "VERSION", "BUNDLE", "PLATFORM", "SIZE", "ARCHIVED")
            for build in builds {
                table.add(
                    build.description.name,
                    build.id.short,
                    "\(build.description.version) (\(build.description.number))",
                    build.description.bundleIdentifier,
                    build.description.platform.rawValue,
                    PlainText.size(build.size),
                    PlainText.time(build.archivedAt)
                )
            }
            return table.text(ifEmpty: "The archive is empty. Add a build with `berth build add APP`.")
        }
        return .success
    }
}
