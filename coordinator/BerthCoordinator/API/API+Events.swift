import BerthCore
import BerthStore
import Foundation

extension API {
    /// What changed is told as server-sent events, from now on or after the event that the caller names. The stream
    /// ends with the caller's token.
    func events(after lastEvent: String?, for caller: Caller) async throws -> HTTPResponse {
        let feed = farm.changes
        let life = feed.life
        let stream = feed.subscribe(after: try lastEvent.map(Self.position), reader: caller.token) {
            Self.text($0, life: life)
        }
        // It may have been revoked since it was looked at; from here on its end reaches the stream.
        if try await store.tokenName(hash: caller.token) == nil { feed.end(caller.token) }
        return HTTPResponse(
            status: 200,
            headers: [
                "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            ],
            body: .stream(stream)
        )
    }

    private static func position(_ text: String) throws -> ChangeFeed.Position {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt64(parts[1]) else {
            throw APIError(
                400,
                "malformed-event-id",
                "\(text.prefix(80).debugDescription) is no event ID of this API; send the last one received, or none"
            )
        }
        return ChangeFeed.Position(life: String(parts[0]), number: number)
    }

    private static func text(_ delivery: ChangeFeed.Delivery, life: String) -> [UInt8] {
        switch delivery {
        case .ready(let number): event("ready", [:], "\(life)-\(number)")
        case .resync(let number): event("resync", [:], "\(life)-\(number)")
        case .changes(let notices):
            notices.flatMap { notice in
                event(
                    "change",
                    ["topic": notice.subject.topic.rawValue, "name": notice.subject.name],
                    "\(life)-\(notice.number)"
                )
            }
        }
    }

    private static func event(_ name: String, _ data: [String: String], _ id: String) -> [UInt8] {
        // Two strings can always be encoded; encoded JSON has no line ends.
        let json = (try? CanonicalJSON.encode(data)) ?? Array("{}".utf8)
        return Array("event: \(name)\nid: \(id)\ndata: ".utf8) + json + Array("\n\n".utf8)
    }
}
