import BerthSystem
import Foundation
import SQLiteDatabase

/// The items of one device in a SQLite file. One owner at a time: the service of the booted device.
final class KeychainDatabase {
    /// Version of the tables; a file with a newer one is refused.
    static let version: Int32 = 1

    private let connection: DatabaseConnection

    /// Opens the file, making it if it is not there. A file that is no database is put aside, and the keychain starts
    /// empty, as on a device.
    ///
    /// - Throws: `DatabaseError`, `KeychainDatabaseError`
    init(path: String) throws {
        do {
            connection = try Self.open(path)
        } catch let error as DatabaseError where [.notADatabase, .corrupt].contains(error.code.primary) {
            Log(component: "keychain").error("The keychain is unreadable: it is put aside", ["path": path])
            try DurableFile.rename(path, to: "\(path).unreadable")
            connection = try Self.open(path)
        }
    }

    private static func open(_ path: String) throws -> DatabaseConnection {
        let connection = try DatabaseConnection(path: path)
        let found = try connection.schemaVersion()
        guard found <= version else { throw KeychainDatabaseError.newer(path: path, found: found, known: version) }
        guard found < version else { return connection }
        let itemClass = KeychainClass.genericPassword
        let columns = columnNames(itemClass).map { "\"\($0)\"" }.joined(separator: ", ")
        try connection.transaction {
            try connection.executeScript(
                """
                CREATE TABLE \(itemClass.name) (
                    rowid INTEGER PRIMARY KEY AUTOINCREMENT, persistref BLOB NOT NULL UNIQUE, data BLOB, \(columns),
                    UNIQUE ("sha1"), CHECK (length(persistref) = 16), CHECK ("sync" IN (0, 1))
                );
                CREATE INDEX \(itemClass.name)_groups ON \(itemClass.name) ("agrp", "sync");
                """
            )
            try connection.setSchemaVersion(version)
        }
        return connection
    }

    private static func columnNames(_ itemClass: KeychainClass) -> [String] {
        itemClass.attributes.keys.sorted()
    }

    /// Runs several changes as one: all of them or none.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.transaction(.immediate, body)
    }

    /// The items of these groups in the order of their addition.
    func items(
        of itemClass: KeychainClass,
        groups: [String],
        synchronizable: Bool?,
        reference: [UInt8]?
    ) throws -> [KeychainItem] {
        let names = Self.columnNames(itemClass)
        let columns = names.map { "\"\($0)\"" }.joined(separator: ", ")
        let places = groups.map { _ in "?" }.joined(separator: ", ")
        var sql = "SELECT rowid, persistref, data, \(columns) FROM \(itemClass.name) WHERE agrp IN (\(places))"
        var parameters = groups.map(DatabaseValue.text)
        if let synchronizable, reference == nil {
            sql += " AND sync = ?"
            parameters.append(DatabaseValue(synchronizable))
        }
        if let reference {
            sql += " AND persistref = ?"
            parameters.append(.blob(reference))
        }
        return try connection.rows(sql + " ORDER BY rowid", parameters).map { row in
            var attributes: [String: KeychainValue] = [:]
            for (index, name) in names.enumerated() {
                attributes[name] = Self.attribute(try row.value(index + 3), itemClass.attributes[name])
            }
            return KeychainItem(
                row: try row.integer(0),
                itemClass: itemClass,
                reference: try row.blob(1),
                attributes: attributes,
                data: try row.optionalBlob(2)
            )
        }
    }

    /// Stores a new item and gives it back with its reference.
    ///
    /// - Throws: `KeychainFailure` with `.duplicateItem`, `DatabaseError`
    func insert(
        _ itemClass: KeychainClass,
        attributes: [String: KeychainValue],
        data: [UInt8]?
    ) throws -> KeychainItem {
        var attributes = attributes
        attributes["sha1"] = .data(itemClass.digest(of: attributes))
        let names = Self.columnNames(itemClass)
        let reference = Self.newReference()
        let columns = names.map { "\"\($0)\"" }.joined(separator: ", ")
        let places = names.map { _ in "?" }.joined(separator: ", ")
        try refusingDuplicates {
            try connection.execute(
                "INSERT INTO \(itemClass.name) (persistref, data, \(columns)) VALUES (?, ?, \(places))",
                [.blob(reference), DatabaseValue(data)] + names.map { Self.stored(attributes[$0]) }
            )
        }
        return KeychainItem(
            row: connection.lastInsertedRow,
            itemClass: itemClass,
            reference: reference,
            attributes: attributes,
            data: data
        )
    }

    /// Stores an item's new attributes and data.
    ///
    /// - Throws: `KeychainFailure` with `.duplicateItem`, `DatabaseError`
    func update(_ item: KeychainItem) throws {
        let names = Self.columnNames(item.itemClass)
        let assignments = names.map { "\"\($0)\" = ?" }.joined(separator: ", ")
        var attributes = item.attributes
        attributes["sha1"] = .data(item.itemClass.digest(of: attributes))
        try refusingDuplicates {
            try connection.execute(
                "UPDATE \(item.itemClass.name) SET data = ?, \(assignments) WHERE rowid = ?",
                [DatabaseValue(item.data)] + names.map { Self.stored(attributes[$0]) } + [.integer(item.row)]
            )
        }
    }

    /// Removes an item.
    func delete(_ item: KeychainItem) throws {
        try connection.execute("DELETE FROM \(item.itemClass.name) WHERE rowid = ?", [.integer(item.row)])
    }

    private func refusingDuplicates(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError where error.isDuplicate {
            throw KeychainFailure(.duplicateItem)
        }
    }

    /// A random UUID of version 4, as bytes.
    private static func newReference() -> [UInt8] {
        withUnsafeBytes(of: UUID().uuid) { Array($0) }
    }

    private static func stored(_ value: KeychainValue?) -> DatabaseValue {
        switch value {
        case .integer(let integer): .integer(integer)
        case .string(let text): .text(text)
        case .data(let bytes): .blob(bytes)
        case .date(let seconds): .real(seconds)
        default: .null
        }
    }

    private static func attribute(_ value: DatabaseValue, _ kind: KeychainAttributeKind?) -> KeychainValue? {
        switch value {
        case .null: nil
        case .integer(let integer): .integer(integer)
        case .real(let real): .date(real)
        case .text(let text): .string(text)
        case .blob(let bytes): .data(bytes)
        }
    }
}

/// The keychain file cannot be used.
package enum KeychainDatabaseError: Error, Hashable, CustomStringConvertible {
    /// A newer berth-sim wrote it.
    case newer(path: String, found: Int64, known: Int32)

    package var description: String {
        switch self {
        case .newer(let path, let found, let known):
            "\(path) has keychain database version \(found), and this runtime knows up to \(known): "
                + "boot the device with the berth-sim that wrote it"
        }
    }
}
