import CSQLite

/// A compiled statement of one connection.
///
/// It belongs to the connection's owner, as the connection does, and keeps the connection open while it lives.
package final class DatabaseStatement {
    package let sql: String
    /// Names of the result's columns; empty for a statement without a result.
    package let columns: [String]
    private let connection: DatabaseConnection.Handle
    private let handle: OpaquePointer

    init(connection: DatabaseConnection.Handle, sql: String) throws(DatabaseError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(connection.pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
        guard let handle else {
            throw DatabaseError(code: .misuse, message: "there is no statement in this text", sql: sql)
        }
        self.connection = connection
        self.handle = handle
        self.sql = sql
        columns = (0..<sqlite3_column_count(handle)).map { index in
            sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
        }
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Runs the statement with these parameters and hands each row to `body`, which may end it early by `false`.
    ///
    /// - Throws: `DatabaseError`, or what `body` throws; the statement can be used again in both cases.
    package func forEachRow(
        _ parameters: [DatabaseValue] = [],
        _ body: (DatabaseRow) throws -> Bool
    ) throws {
        guard sqlite3_stmt_busy(handle) == 0 else {
            throw DatabaseError(code: .misuse, message: "the statement is already being run", sql: sql)
        }
        try bind(parameters)
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW:
                if try !body(row()) { return }
            case SQLITE_DONE:
                return
            case let code:
                throw connection.error(code, sql: sql)
            }
        }
    }

    /// Runs the statement and gives all its rows.
    package func rows(_ parameters: [DatabaseValue] = []) throws -> [DatabaseRow] {
        var rows: [DatabaseRow] = []
        try forEachRow(parameters) { row in
            rows.append(row)
            return true
        }
        return rows
    }

    private func bind(_ parameters: [DatabaseValue]) throws(DatabaseError) {
        let expected = Int(sqlite3_bind_parameter_count(handle))
        guard parameters.count == expected else {
            throw DatabaseError(
                code: .range,
                message: "\(parameters.count) values for \(expected) parameters",
                sql: sql
            )
        }
        for (index, value) in zip(Int32(1)..., parameters) {
            let code = bind(value, at: index)
            guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
        }
    }

    private func bind(_ value: DatabaseValue, at index: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let integer): return sqlite3_bind_int64(handle, index, integer)
        case .real(let real): return sqlite3_bind_double(handle, index, real)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    // An empty buffer has no address, and a null pointer would bind NULL.
                    characters.baseAddress.map {
                        berth_sqlite_bind_text(handle, index, $0, Int32(characters.count))
                    } ?? berth_sqlite_bind_text(handle, index, "", 0)
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
            return bytes.withUnsafeBytes {
                berth_sqlite_bind_blob(handle, index, $0.baseAddress, Int32($0.count))
            }
        }
    }

    private func row() -> DatabaseRow {
        let values = (0..<Int32(columns.count)).map(value(at:))
        return DatabaseRow(columns: columns, values: values, sql: sql)
    }

    private func value(at index: Int32) -> DatabaseValue {
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
        case SQLITE_TEXT:
            guard let text = sqlite3_column_text(handle, index) else { return .text("") }
            let count = Int(sqlite3_column_bytes(handle, index))
            return .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            guard let bytes = sqlite3_column_blob(handle, index) else { return .blob([]) }
            return .blob(Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, index)))))
        default: return .null
        }
    }
}
