/// One unit on the channel between coordinator and host (docs/formats.md, frames).
package struct Frame: Sendable, Hashable {
    package enum FrameType: UInt8, Sendable {
        /// A JSON message.
        case control = 1
        /// Bytes of a blob.
        case chunk = 2
    }

    package let type: FrameType
    /// The slot that it concerns; empty for the host as a whole.
    package let route: String
    package let payload: [UInt8]

    package init(type: FrameType, route: String, payload: [UInt8]) {
        precondition(route.utf8.count <= Self.routeLimit, "slot names are checked where they enter")
        self.type = type
        self.route = route
        self.payload = payload
    }

    /// What both sides send first; a login shell's chatter before it is skipped.
    package static let preamble: [UInt8] = Array("berth-frames/1\n".utf8)
    /// How much chatter is skipped at most, in bytes.
    package static let chatterLimit = 64 << 10
    /// Longest slot name, in bytes.
    package static let routeLimit = 64
    /// Longest payload, in bytes.
    package static let payloadLimit = 4 << 20
    /// Payload of a chunk frame beside its header, in bytes.
    package static let chunkSize = 64 << 10

    /// Length, type, route length, route, payload.
    package var bytes: [UInt8] {
        let route = Array(route.utf8)
        let length = UInt32(2 + route.count + payload.count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(length) + 4)
        bytes += [UInt8(length >> 24), UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255)]
        bytes += [type.rawValue, UInt8(route.count)]
        bytes += route
        bytes += payload
        return bytes
    }
}
