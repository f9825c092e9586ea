import BerthCore

/// Who asks, by the token that came with the request.
struct Caller: Sendable {
    /// The token's name.
    let name: String
    /// Absent for a word that this version does not know.
    let role: TokenRole?
    /// As it is stored.
    let roleWord: String

    init(name: String, roleWord: String) {
        self.name = name
        self.roleWord = roleWord
        role = TokenRole(rawValue: roleWord)
    }
}
