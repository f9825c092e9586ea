/// The way to one database: opens what the store needs of it.
///
/// Every call may wait for disk or network, so it is made on a thread of the store.
protocol StoreDriver: Sendable {
    /// What the store is called in messages: a path, or the server and database without secrets.
    var name: String { get }

    /// A connection of its own for the calling thread, which alone uses it.
    /// - Throws: `StoreError`
    func connect(readOnly: Bool) throws(StoreError) -> any StoreSession

    /// Whether several coordinators may work on this database at once.
    var isShared: Bool { get }

    /// What goes on beside the store's threads until it is closed: hands over what other coordinators tell, and keeps the
    /// database in order.
    /// - Parameters:
    ///   - isClosed: whether to come back.
    ///   - deliver: takes each notice; `nil` says that some may have been missed.
    func attend(isClosed: @Sendable () -> Bool, deliver: @Sendable (StoreNotice?) -> Void)
}

/// A connection that runs transactions, one after the other, on the thread that has it.
protocol StoreSession: AnyObject {
    /// Runs a body as one transaction: committed when this returns, undone when it throws.
    /// - Throws: what the body throws, `StoreFailure`
    func transaction(writing: Bool, _ body: (any StoreConnection) throws -> Void) throws
}

/// Why a transaction did not take place, as far as it decides what to do next.
enum StoreFailure: Error {
    /// Others were in the way; it may be begun again at once.
    case conflict(String)
    /// The database cannot be reached; nothing of the transaction was kept. A new session is needed.
    case unreachable(String)
    /// Its commit was not answered and the server could not be asked: it may have taken place.
    case inDoubt(String)
    /// No room on the database's disk.
    case full
    /// Anything else that the database refused.
    case refused(String)
}
