import BerthCore
import BerthSystem
import Foundation

/// An operator's wish that a slot lets go of what it keeps: a file in the slot's state folder, which the agent takes.
package struct ReleaseRequest: Sendable {
    /// What the operator says.
    package struct Order: Sendable, Hashable, Codable {
        /// Tells this order from others in the answer.
        package let id: String
        /// Why a phone that cannot be proved clean shall be used all the same; nil: it shall not.
        package var unclean: String?

        package init(unclean: String? = nil) {
            id = Hex.encode(RandomBytes.make(8))
            self.unclean = unclean
        }
    }

    private let path: String

    package init(state: String) {
        path = state + "/release"
    }

    /// Whether there is an order.
    package var isThere: Bool { access(path, F_OK) == 0 }

    /// - Throws: `SystemError`, `EncodingError`
    package func give(_ order: Order) throws {
        try DurableFile.replace(path, with: try CanonicalJSON.encode(order))
    }

    /// The order, which is then done with. One that cannot be read asks for nothing special.
    package func take() -> Order? {
        guard isThere else { return nil }
        let bytes = try? DurableFile.read(path, limit: 1 << 16)
        unlink(path)
        return bytes.flatMap { try? CanonicalJSON.decode(Order.self, from: $0, document: "release") } ?? Order()
    }
}
