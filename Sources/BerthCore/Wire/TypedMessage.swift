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

    /// Which of some types a payload says it is of, without reading all that it says; nil when it is of another one, or
    /// cannot be read.
    package static func type(of payload: [UInt8], among types: [String]) -> String? {
        for type in types where payload.starts(with: #"{"type":"\#(type)""#.utf8) { return type }
        // Most messages do not even have the word.
        guard types.contains(where: { has(payload, Array($0.utf8)) }) else { return nil }
        let said = try? CanonicalJSON.decode(MessageHead.self, from: payload, document: "control message").type
        return types.first { $0 == said }
    }

    private static func has(_ payload: [UInt8], _ word: [UInt8]) -> Bool {
        guard let first = word.first, payload.count >= word.count else { return false }
        return (0...(payload.count - word.count)).contains { place in
            payload[place] == first && payload[place..<(place + word.count)].elementsEqual(word)
        }
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
