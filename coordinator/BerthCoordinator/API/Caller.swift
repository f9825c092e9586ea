import BerthCore

/// Who asks, by the token that came with the request.
struct Caller: Sendable {
    /// The token's name.
    let name: String
    /// Absent for a word that this version does not know.
    let role: TokenRole?
    /// As it is stored.
    let roleWord: String
    /// The token's digest.
    let token: Digest

    init(name: String, roleWord: String, token: Digest) {
        self.name = name
        self.token = token
        self.roleWord = roleWord
        role = TokenRole(rawValue: roleWord)
    }
}
