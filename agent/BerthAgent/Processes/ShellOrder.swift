import BerthCore
import BerthSystem
import Foundation

/// A person's wish to work by hand on a slot's device: a file in the slot's state folder, which the agent follows for as
/// long as the process that it names runs. That process waits for the device's lock, then becomes the person's shell.
package struct ShellOrder: Sendable {
    /// Who asks.
    package struct Order: Sendable, Hashable, Codable {
        package let process: ProcessIdentity
        package let user: String
        /// The host's wall clock, milliseconds since 1970.
        package let since: Int64

        package init(process: ProcessIdentity, user: String) {
            self.process = process
            self.user = user
            since = Timestamp.now().milliseconds
        }
    }

    private let path: String

    package init(state: String) {
        path = state + "/shell"
    }

    /// The order, if there is one whose process runs.
    package var standing: Order? {
        guard let bytes = try? DurableFile.read(path, limit: 1 << 16),
            let order = try? CanonicalJSON.decode(Order.self, from: bytes, document: "shell")
        else { return nil }
        return order.process.isRunning ? order : nil
    }

    /// - Throws: `SystemError`, `EncodingError`
    package func give(_ order: Order) throws {
        try DurableFile.replace(path, with: try CanonicalJSON.encode(order))
    }

    package func withdraw() {
        unlink(path)
    }
}
