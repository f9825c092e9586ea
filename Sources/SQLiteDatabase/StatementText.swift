/// The text of a statement as a key. Hashed by its length alone, for texts are long, looked up for each call, and few of
/// one connection share theirs.
struct StatementText: Hashable {
    let sql: String

    func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
}
