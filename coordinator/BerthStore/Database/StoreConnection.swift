import SQLiteDatabase

/// One open transaction as an operation sees it, whichever database it is in.
///
/// Statements are written once, in the SQL that both databases understand, with `?`, or `?1`, `?2` …, for their
/// parameters; the little that differs comes from `dialect`.
protocol StoreConnection: AnyObject {
    var dialect: StoreDialect { get }

    /// What was decoded on this connection before.
    var documents: DecodedDocuments { get }

    /// Runs a statement and gives all its rows.
    func rows(_ sql: String, _ parameters: [DatabaseValue]) throws -> [DatabaseRow]

    /// Runs a statement and gives the number of rows it inserted, changed or deleted.
    @discardableResult
    func execute(_ sql: String, _ parameters: [DatabaseValue]) throws -> Int

    /// Runs an insertion of one row, and gives the number that the database gave it.
    func insert(_ sql: String, _ parameters: [DatabaseValue]) throws -> Int64

    /// Runs several statements without parameters or results, such as a schema.
    func executeScript(_ sql: String) throws

    /// Waits until no other transaction holds this name, and holds it until this one ends. Where transactions that
    /// write exclude each other anyway there is nothing to wait for.
    func holdExclusively(_ name: StoreLock) throws

    /// The same, but others that hold it shared are no hindrance.
    func holdShared(_ name: StoreLock) throws

    /// Tells the other coordinators on this database, once this transaction is committed.
    func announce(_ notice: StoreNotice) throws
}

extension StoreConnection {
    func rows(_ sql: String) throws -> [DatabaseRow] { try rows(sql, []) }

    @discardableResult
    func execute(_ sql: String) throws -> Int { try execute(sql, []) }

    /// Runs a statement that has at most one row, or whose first one counts.
    func firstRow(_ sql: String, _ parameters: [DatabaseValue] = []) throws -> DatabaseRow? {
        try rows(sql, parameters).first
    }
}

/// What only one transaction at a time may do across all coordinators.
enum StoreLock: Int64 {
    case schema = 4_110_500_001
    /// Held by transactions that lock rows of lanes, runs and shares, whose order nobody knows beforehand.
    case rows = 4_110_500_008
    case requirements = 4_110_500_004
    case holdings = 4_110_500_005
    case simulatorLedger = 4_110_500_002
    case hardwareLedger = 4_110_500_003
    /// Held shared by claims, exclusively by who changes what keeps runs from slots.
    case admission = 4_110_500_006
    case limits = 4_110_500_007
}
