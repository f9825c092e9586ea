/// Cuts a byte stream into frames. A value: feed it, then take frames until it wants more.
package struct FrameDecoder: Sendable {
    /// Why a channel cannot go on.
    package enum Problem: Error, Hashable, CustomStringConvertible {
        /// The other side never said the preamble; the start of what it said instead.
        case noPreamble(String)
        case oversizedFrame(Int)
        case unknownType(UInt8)
        case malformedRoute

        package var description: String {
            switch self {
            case .noPreamble(let said):
                "the other side is no berth-agent of this protocol: it began with \(said.debugDescription)"
            case .oversizedFrame(let length): "a frame claims \(length) bytes; at most \(Frame.payloadLimit) are taken"
            case .unknownType(let type): "a frame has the unknown type \(type)"
            case .malformedRoute: "a frame's slot name is malformed"
            }
        }
    }

    private var buffer: [UInt8] = []
    private var start = 0
    private var begun: Bool
    private var skipped = 0

    /// - Parameter expectsPreamble: false for sockets on which frames start at once.
    package init(expectsPreamble: Bool) {
        begun = !expectsPreamble
    }

    /// Adds received bytes.
    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// The next whole frame, or nil when more bytes are needed.
    /// - Throws: `Problem`; the channel must then be closed.
    package mutating func next() throws(Problem) -> Frame? {
        if !begun {
            guard try skipToPreamble() else { return nil }
        }
        guard buffer.count - start >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 << 8 | Int(buffer[start + $1]) }
        guard length <= Frame.payloadLimit + Frame.routeLimit + 2 else { throw .oversizedFrame(length) }
        guard length >= 2 else { throw .malformedRoute }
        guard buffer.count - start >= 4 + length else { return nil }
        let body = buffer[(start + 4)..<(start + 4 + length)]
        start += 4 + length
        guard let type = Frame.FrameType(rawValue: body[body.startIndex]) else {
            throw .unknownType(body[body.startIndex])
        }
        let routeLength = Int(body[body.startIndex + 1])
        guard routeLength <= Frame.routeLimit, routeLength + 2 <= length,
            let route = String(validating: body.dropFirst(2).prefix(routeLength), as: UTF8.self)
        else { throw .malformedRoute }
        return Frame(type: type, route: route, payload: Array(body.dropFirst(2 + routeLength)))
    }

    private mutating func skipToPreamble() throws(Problem) -> Bool {
        let wanted = Frame.preamble
        var index = start
        while index + wanted.count <= buffer.count {
            if buffer[index..<(index + wanted.count)].elementsEqual(wanted) {
                start = index + wanted.count
                begun = true
                return true
            }
            index += 1
        }
        skipped += index - start
        if skipped > Frame.chatterLimit {
            throw .noPreamble(String(decoding: buffer.suffix(200), as: UTF8.self))
        }
        start = index
        return false
    }
}
