import BerthSystem
import Foundation

/// Where the coordinator is and who asks.
struct CoordinatorAccess: Equatable, Sendable {
    /// Without a slash at its end.
    let address: String
    let token: String?

    init(address: String, token: String?) throws(CommandFailure) {
        guard let url = URL(string: address), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme),
            url.host?.isEmpty == false, url.query == nil, url.fragment == nil
        else {
            throw CommandFailure(
                .usage,
                "\(address.debugDescription) is no address of a coordinator: write http://HOST:PORT or https://…"
            )
        }
        var trimmed = address
        while trimmed.hasSuffix("/") { trimmed.removeLast() }
        self.address = trimmed
        self.token = token
    }

    /// Options go before the environment.
    init(_ arguments: ParsedArguments, environment: [String: String]) throws {
        let address = arguments.value("--coordinator") ?? environment["BERTH_COORDINATOR"] ?? ""
        guard !address.isEmpty else {
            throw arguments.failure("which coordinator? Give --coordinator URL or set BERTH_COORDINATOR")
        }
        try self.init(address: address, token: try Self.token(arguments, environment))
    }

    private static func token(_ arguments: ParsedArguments, _ environment: [String: String]) throws -> String? {
        let named = arguments.value("--token-file")
        let text: String
        if named == nil, let token = environment["BERTH_TOKEN"], !token.isEmpty {
            text = token
        } else if let file = named ?? environment["BERTH_TOKEN_FILE"], !file.isEmpty {
            text = String(decoding: try DurableFile.read(file, limit: 4096), as: UTF8.self)
        } else {
            return nil
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ (33...126).contains($0) }) else {
            throw CommandFailure(.badInput, "the token must be one word of plain ASCII characters")
        }
        return token
    }
}
