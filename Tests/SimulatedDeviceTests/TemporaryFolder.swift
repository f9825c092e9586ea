import BerthSystem
import Foundation

/// A folder that goes with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let base = FileManager.default.temporaryDirectory.path
        path = "\(base)/berth-sim-\(Hex.encode(RandomBytes.make(6)))"
        try DurableFile.makeFolder(path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
