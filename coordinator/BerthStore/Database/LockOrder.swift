/// In which order operations that share a transaction come, by the locks that they hold until its end. Transactions of
/// several coordinators that keep to it do not wait for each other in a circle.
enum LockOrder: Int, Comparable {
    /// Who holds which host.
    case holdings
    /// What runs demand and slots offer.
    case requirements
    /// What keeps runs from slots.
    case admission
    case claims
    /// Rows only.
    case rows
    /// The ends of the ledgers.
    case ledgers

    /// Whether a transaction of such operations holds `StoreLock.rows`, before all else. Holding hosts waits for nobody.
    var locksRows: Bool { self != .holdings }

    static func < (left: LockOrder, right: LockOrder) -> Bool { left.rawValue < right.rawValue }
}
