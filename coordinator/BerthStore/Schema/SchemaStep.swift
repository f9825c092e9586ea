/// One step of the schema, in the SQL of each database.
struct SchemaStep: Sendable {
    let sqlite: String
    let postgres: String

    func sql(_ dialect: StoreDialect) -> String {
        switch dialect {
        case .sqlite: sqlite
        case .postgres: postgres
        }
    }
}
