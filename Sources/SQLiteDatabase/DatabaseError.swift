import CSQLite

/// What SQLite answered to a call that did not succeed, with the statement it refused.
///
/// Values bound to a statement are never part of it.
package struct DatabaseError: Error, Equatable, CustomStringConvertible {
    /// SQLite's extended result code.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int32

        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        /// The lowest eight bits: the kind of failure without its detail.
        package var primary: Code { Code(rawValue: rawValue & 0xFF) }

        package static let busy = Code(rawValue: SQLITE_BUSY)
        package static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
        package static let uniqueConstraint = Code(rawValue: SQLITE_CONSTRAINT | (8 << 8))
        package static let primaryKeyConstraint = Code(rawValue: SQLITE_CONSTRAINT | (6 << 8))
        package static let checkConstraint = Code(rawValue: SQLITE_CONSTRAINT | (1 << 8))
        package static let full = Code(rawValue: SQLITE_FULL)
        package static let inputOutput = Code(rawValue: SQLITE_IOERR)
        package static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
        package static let corrupt = Code(rawValue: SQLITE_CORRUPT)
        package static let notADatabase = Code(rawValue: SQLITE_NOTADB)
        package static let misuse = Code(rawValue: SQLITE_MISUSE)
        /// A column did not hold the type that was asked for.
        package static let mismatch = Code(rawValue: SQLITE_MISMATCH)
        /// A parameter or column index does not exist.
        package static let range = Code(rawValue: SQLITE_RANGE)
    }

    package let code: Code
    package let message: String
    /// The statement, or what was done when there was none (such as opening a file).
    package let sql: String

    package init(code: Code, message: String, sql: String) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    package var description: String {
        "SQLite answered \(code.rawValue) (\(message)) to: \(sql)"
    }

    /// True when a row with the same key is already there.
    package var isDuplicate: Bool {
        code == .uniqueConstraint || code == .primaryKeyConstraint
    }
}
