extension DatabaseConnection {
    /// Moves what the write-ahead log holds into the file, as far as no reader needs it there, without being in any
    /// writer's way. Once all of it is moved, the next writer begins the log anew. Blocks.
    /// - Throws: `DatabaseError`
    package func checkpoint() throws {
        _ = try rows("PRAGMA wal_checkpoint(PASSIVE)")
    }
}
