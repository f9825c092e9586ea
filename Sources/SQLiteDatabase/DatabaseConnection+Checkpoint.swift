extension DatabaseConnection {
    /// Moves what the write-ahead log holds into the file, as far as no reader needs it there, without being in any
    /// writer's way. Blocks.
    /// - Returns: whether all of it was moved, so that the next writer begins the log anew.
    /// - Throws: `DatabaseError`
    package func checkpoint() throws -> Bool {
        guard let row = try rows("PRAGMA wal_checkpoint(PASSIVE)").first else { return true }
        return try row.integer(1) == row.integer(2)
    }
}
