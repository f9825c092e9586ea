import Foundation

/// A family of control messages: JSON objects told apart by their `type`; unknown keys are ignored.
package protocol TypedMessage: Codable, Sendable, Hashable {}

extension TypedMessage {
    /// The message as a control frame.
    package func frame(route: String = "") throws -> Frame {
        Frame(type: .control, route: route, payload: try CanonicalJSON.encode(self))
    }

    /// Reads a control frame's payload.
    /// - Throws: `FormatError`
    package static func parse(_ payload: [UInt8]) throws(FormatError) -> Self {
        try CanonicalJSON.decode(Self.self, from: payload, document: "control message")
    }

    /// What a payload says it is, without reading all that it says; nil when it cannot be read.
    package static func type(of payload: [UInt8]) -> String? {
        try? CanonicalJSON.decode(MessageHead.self, from: payload, document: "control message").type
    }
}

/// What all messages begin with.
private struct MessageHead: Decodable {
    let type: String
}

/// The key that tells messages apart.
enum MessageTypeKey: String, CodingKey {
    case type
}
