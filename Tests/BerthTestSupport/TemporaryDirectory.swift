import BerthSystem
import Foundation

/// A new, empty folder for one test, removed with its last reference.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        let name = "berth-test-" + Hex.encode(RandomBytes.make(8))
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
