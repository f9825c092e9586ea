import BerthSystem
import Foundation

extension SmallDisk {
    private var filler: String { path + "/filler" }

    /// Takes all the room that is left, to the last page.
    /// - Throws: `SystemError`
    package func fill() throws {
        let file = try FileDescriptor(path: filler, flags: O_WRONLY | O_CREAT | O_APPEND)
        for size in [1 << 16, 1 << 12] {
            let block = [UInt8](repeating: 1, count: size)
            do {
                while true { try file.write(block) }
            } catch let error as SystemError where error.isDiskFull {
                continue
            }
        }
    }

    /// Gives the room back that `fill` has taken.
    package func makeRoom() {
        unlink(filler)
    }
}
