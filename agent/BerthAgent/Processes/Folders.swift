import BerthSystem
import Foundation

/// Folders of the agent's state.
enum Folders {
    /// Removes a folder with all that is in it; one that is not there is no error.
    /// - Throws: `SystemError`
    static func remove(_ path: String) throws {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            var status = stat()
            guard lstat(path, &status) != 0 else {
                let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
                let number = cause?.domain == NSPOSIXErrorDomain ? cause.map { Int32($0.code) } : nil
                throw SystemError(
                    operation: number == nil ? "remove (\(error.localizedDescription))" : "remove",
                    path: path,
                    code: number ?? EIO
                )
            }
        }
    }

    /// Names in a folder without those that start with a dot, sorted; empty when it cannot be read.
    static func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Bytes that a folder takes on its disk, links not followed; what cannot be read counts nothing.
    static func size(of path: String) -> Int64 {
        var total: Int64 = 0
        let names = FileManager.default.enumerator(atPath: path)
        while let name = names?.nextObject() as? String {
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else { continue }
            total += Int64(status.st_blocks) * 512
        }
        return total
    }
}
