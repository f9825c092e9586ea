import BerthSystem
import Foundation

/// Does to an appended file what a power cut does: takes away what was not synchronised, as far as the file notes it.
enum LostBytes {
    static func takeAway(_ path: String) {
        guard let note = try? DurableFile.read(path + ".synced", limit: 8), note.count == 8 else { return }
        let synced = note.reversed().reduce(0) { $0 << 8 | Int64($1) }
        var status = stat()
        guard stat(path, &status) == 0, Int64(status.st_size) > synced else { return }
        truncate(path, off_t(synced))
    }
}
