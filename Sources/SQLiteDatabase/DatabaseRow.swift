/// One row of a result, copied out of the statement, so it may leave the connection's owner.
package struct DatabaseRow: Hashable, Sendable {
    /// Names of the columns, in the order of the statement.
    package let columns: [String]
    package let values: [DatabaseValue]
    private let sql: String

    /// A row as a database gave it: as many values as columns, and the statement for messages.
    package init(columns: [String], values: [DatabaseValue], sql: String) {
        self.columns = columns
        self.values = values
        self.sql = sql
    }

    /// The value of a column by its position.
    ///
    /// - Throws: `DatabaseError` with `.range` when the statement has no such column.
    package func value(_ index: Int) throws(DatabaseError) -> DatabaseValue {
        guard values.indices.contains(index) else {
            throw DatabaseError(code: .range, message: "no column at position \(index)", sql: sql)
        }
        return values[index]
    }

    /// The value of a column by its name.
    ///
    /// - Throws: `DatabaseError` with `.range` when the statement has no such column.
    package func value(_ name: String) throws(DatabaseError) -> DatabaseValue {
        guard let index = columns.firstIndex(of: name) else {
            throw DatabaseError(code: .range, message: "no column named \(name)", sql: sql)
        }
        return values[index]
    }

    package func integer(_ index: Int) throws(DatabaseError) -> Int64 { try integer(value(index), index) }
    package func integer(_ name: String) throws(DatabaseError) -> Int64 { try integer(value(name), name) }
    package func text(_ index: Int) throws(DatabaseError) -> String { try text(value(index), index) }
    package func text(_ name: String) throws(DatabaseError) -> String { try text(value(name), name) }
    package func blob(_ index: Int) throws(DatabaseError) -> [UInt8] { try blob(value(index), index) }
    package func blob(_ name: String) throws(DatabaseError) -> [UInt8] { try blob(value(name), name) }
    package func real(_ index: Int) throws(DatabaseError) -> Double { try real(value(index), index) }
    package func real(_ name: String) throws(DatabaseError) -> Double { try real(value(name), name) }
    package func bool(_ index: Int) throws(DatabaseError) -> Bool { try integer(index) != 0 }
    package func bool(_ name: String) throws(DatabaseError) -> Bool { try integer(name) != 0 }

    package func optionalInteger(_ index: Int) throws(DatabaseError) -> Int64? {
        try value(index) == .null ? nil : integer(index)
    }
    package func optionalInteger(_ name: String) throws(DatabaseError) -> Int64? {
        try value(name) == .null ? nil : integer(name)
    }
    package func optionalText(_ index: Int) throws(DatabaseError) -> String? {
        try value(index) == .null ? nil : text(index)
    }
    package func optionalText(_ name: String) throws(DatabaseError) -> String? {
        try value(name) == .null ? nil : text(name)
    }
    package func optionalBlob(_ index: Int) throws(DatabaseError) -> [UInt8]? {
        try value(index) == .null ? nil : blob(index)
    }
    package func optionalBlob(_ name: String) throws(DatabaseError) -> [UInt8]? {
        try value(name) == .null ? nil : blob(name)
    }

    private func integer(_ value: DatabaseValue, _ column: some Any) throws(DatabaseError) -> Int64 {
        guard case .integer(let integer) = value else { throw mismatch("an integer", column) }
        return integer
    }

    private func text(_ value: DatabaseValue, _ column: some Any) throws(DatabaseError) -> String {
        guard case .text(let text) = value else { throw mismatch("text", column) }
        return text
    }

    private func blob(_ value: DatabaseValue, _ column: some Any) throws(DatabaseError) -> [UInt8] {
        guard case .blob(let bytes) = value else { throw mismatch("a blob", column) }
        return bytes
    }

    /// An integer column answers as a number too, since SQLite stores whole reals so.
    private func real(_ value: DatabaseValue, _ column: some Any) throws(DatabaseError) -> Double {
        switch value {
        case .real(let real): real
        case .integer(let integer): Double(integer)
        case .null, .text, .blob: throw mismatch("a number", column)
        }
    }

    private func mismatch(_ wanted: String, _ column: some Any) -> DatabaseError {
        DatabaseError(code: .mismatch, message: "column \(column) does not hold \(wanted)", sql: sql)
    }
}
