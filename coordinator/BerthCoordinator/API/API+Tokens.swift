import BerthArchive
import BerthCore
import BerthStore
import BerthSystem

/// Tokens and their roles.
extension API {
    /// Makes a token; its value is in this answer only.
    func addToken(_ request: TokenRequest, caller: String) async throws -> HTTPResponse {
        guard SlotName.isValid(request.name), !request.name.hasPrefix("berth-") else {
            throw APIError(
                400,
                "malformed-name",
                "\(request.name.prefix(80).debugDescription) cannot name a token: use 1 to 64 letters, digits, dots, dashes "
                    + "and underscores, not beginning with berth-"
            )
        }
        let token = Hex.encode(RandomBytes.make(24))
        let now = Timestamp.now().milliseconds
        try await store.addToken(
            name: request.name,
            hash: Digest.sha256(of: Array(token.utf8)),
            role: request.role.rawValue,
            actor: caller,
            now: now
        )
        return Self.json(
            TokenView(name: request.name, role: request.role.rawValue, addedAt: now, token: token),
            status: 201
        )
    }

    func revokeToken(_ name: String, caller: String) async throws -> HTTPResponse {
        let revoked = try await store.revokeToken(name, actor: caller, now: Timestamp.now().milliseconds)
        await farm.endStreamsOfRevokedTokens()
        return Self.json(revoked)
    }
}
