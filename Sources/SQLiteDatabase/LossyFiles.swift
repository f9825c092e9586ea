import BerthSystem
import CLossySQLite
import CSQLite
import Foundation

/// For the fault harness alone: lets SQLite's files lie on the process's `LossyDisk`.
package enum LossyFiles {
    /// Begins, for all databases that are opened afterwards; the process has a `LossyDisk` by then. Once a process.
    /// - Parameter skipsSync: nothing is synchronised.
    /// - Throws: `DatabaseError`
    package static func begin(skipsSync: Bool) throws {
        var listener = berth_lossy_listener(
            will_write: { path, length, offset, bytes, count in
                LossyFiles.tell {
                    let old = bytes.map { Data(bytes: $0, count: Int(count)) } ?? Data()
                    try $0.willWrite(LossyFiles.text(path), length: length, offset: offset, bytes: old)
                }
            },
            did_make: { path in LossyFiles.tell { try $0.didMake(LossyFiles.text(path)) } },
            will_synchronize: { LossyDisk.current?.mark ?? 0 },
            did_synchronize: { path, withName, mark in
                LossyFiles.tell {
                    let path = LossyFiles.text(path)
                    try $0.didSynchronize(file: path, before: mark)
                    guard withName != 0 else { return }
                    try $0.didSynchronize(folder: (path as NSString).deletingLastPathComponent, before: mark)
                }
            },
            did_remove: { path in LossyFiles.tell { try $0.didRemove(LossyFiles.text(path)) } }
        )
        let code = berth_lossy_sqlite_begin(&listener, skipsSync ? 1 : 0)
        guard code == SQLITE_OK else {
            throw DatabaseError(
                code: .init(rawValue: code),
                message: String(cString: sqlite3_errstr(code)),
                sql: "begin with a lossy disk"
            )
        }
    }

    private static func text(_ path: UnsafePointer<CChar>?) -> String { path.map { String(cString: $0) } ?? "" }

    /// - Returns: 0, or 1 when the disk cannot note it: SQLite's call fails then.
    private static func tell(_ body: (LossyDisk) throws -> Void) -> Int32 {
        guard let disk = LossyDisk.current else { return 0 }
        do {
            try body(disk)
            return 0
        } catch {
            return 1
        }
    }
}
