import Foundation

/// A point of a migration at which a test build can be made to die, to show that nothing is lost (C2).
///
/// `KeychainMigrator` announces them. A migration of your own does so with `reached()`, which does nothing unless the
/// probe was asked for it.
public enum KeychainMigrationPoint: String, CaseIterable, Sendable {
    /// The old item was read; nothing has been written.
    case afterRead = "after-read"
    /// The new item was added and not proved yet.
    case afterAdd = "after-add"
    /// The new item was read back; the old one is still there.
    case afterReadBack = "after-read-back"
    /// The old item was deleted.
    case afterDelete = "after-delete"

    /// Announces that the migration has come to this point.
    public func reached() {
        Self.lock.lock()
        let watch = Self.watch
        Self.lock.unlock()
        watch?(self)
    }

    /// Calls `watch` at every point that is reached while `body` runs, on whatever thread.
    static func watching<Result>(
        _ watch: @escaping @Sendable (KeychainMigrationPoint) -> Void,
        _ body: () throws -> Result
    ) rethrows -> Result {
        set(watch)
        defer { set(nil) }
        return try body()
    }

    private static func set(_ watch: (@Sendable (KeychainMigrationPoint) -> Void)?) {
        lock.lock()
        self.watch = watch
        lock.unlock()
    }

    private static let lock = NSLock()
    // Safe: it is only touched with `lock` held.
    nonisolated(unsafe) private static var watch: (@Sendable (KeychainMigrationPoint) -> Void)?
}
