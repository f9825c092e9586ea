import CPostgres
import SQLiteDatabase

/// What one statement gave, with its values in binary form.
final class PostgresResult {
    private let pointer: OpaquePointer

    /// Takes ownership of the result.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        PQclear(pointer)
    }

    func error(_ sql: String) -> PostgresError? {
        switch PQresultStatus(pointer) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return nil
        default:
            // 'C' is libpq's field with the standard's code.
            let state = PQresultErrorField(pointer, 67).map { String(cString: $0) } ?? ""
            return PostgresError(
                state: state,
                message: PostgresConnection.trimmed(PQresultErrorMessage(pointer)),
                sql: sql
            )
        }
    }

    var changedRows: Int {
        PQcmdTuples(pointer).flatMap { Int(String(cString: $0)) } ?? 0
    }

    func rows(_ sql: String) throws(PostgresError) -> [DatabaseRow] {
        let count = PQntuples(pointer)
        guard count > 0 else { return [] }
        let fields = 0..<PQnfields(pointer)
        let columns = fields.map { PQfname(pointer, $0).map { String(cString: $0) } ?? "" }
        var rows: [DatabaseRow] = []
        rows.reserveCapacity(Int(count))
        for row in 0..<count {
            var values: [DatabaseValue] = []
            values.reserveCapacity(columns.count)
            for field in fields { values.append(try value(row, field, sql)) }
            rows.append(DatabaseRow(columns: columns, values: values, sql: sql))
        }
        return rows
    }

    private func value(_ row: Int32, _ field: Int32, _ sql: String) throws(PostgresError) -> DatabaseValue {
        guard PQgetisnull(pointer, row, field) == 0, let start = PQgetvalue(pointer, row, field) else { return .null }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(pointer, row, field)))
        // The types' own numbers are fixed in PostgreSQL's catalogue.
        switch PQftype(pointer, field) {
        case 20, 21, 23:
            let isNegative = bytes.first.map { $0 & 0x80 != 0 } ?? false
            return .integer(bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
        case 16: return .integer(bytes.first == 0 ? 0 : 1)
        case 701:
            return .real(Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
        case 17: return .blob(Array(bytes))
        case 18, 19, 25, 114, 705, 1042, 1043: return .text(String(decoding: bytes, as: UTF8.self))
        case let type:
            let name = PQfname(pointer, field).map { String(cString: $0) } ?? ""
            throw PostgresError(state: "42804", message: "column \(name) has type \(type)", sql: sql)
        }
    }
}
