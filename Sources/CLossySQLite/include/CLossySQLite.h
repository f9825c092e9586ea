#ifndef CLOSSYSQLITE_H
#define CLOSSYSQLITE_H

/// Who is told what SQLite does to its files. Those that return a number return 0, or anything else to have SQLite's
/// call fail as on a broken disk.
struct berth_lossy_listener {
    /// Bytes are about to be written or cut off: the file's length, where they begin, and what stands there now.
    int (*will_write)(const char *path, long long length, long long offset, const void *bytes, int count);
    /// A file was made.
    int (*did_make)(const char *path);
    /// A synchronisation is about to begin: returns a mark of what was written until now.
    unsigned long long (*will_synchronize)(void);
    /// A file's bytes that were written before the mark are on disk; `with_name`: so is its name in its folder.
    int (*did_synchronize)(const char *path, int with_name, unsigned long long mark);
    /// A file was removed.
    int (*did_remove)(const char *path);
};

/// Puts a layer between SQLite and its files, for every database that is opened afterwards, which tells the listener.
/// Databases, their journals and write-ahead logs pass through it; the shared memory beside them stays with the system.
/// With `skips_sync` nothing is synchronised. Returns an SQLite result code. Once a process, before databases are opened.
int berth_lossy_sqlite_begin(const struct berth_lossy_listener *listener, int skips_sync);

#endif
