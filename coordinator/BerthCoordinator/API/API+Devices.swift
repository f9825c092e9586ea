import BerthCore
import BerthStore
import BerthSystem

/// Devices that are kept for people.
extension API {
    /// Has a device released: 200 when it is, 202 when the agent is at it, a refusal with the agent's cause otherwise.
    func release(_ udid: String, _ request: HTTPRequest, caller: String) async throws -> HTTPResponse {
        let wish = request.body.isEmpty ? ReleaseRequestBody() : try body(ReleaseRequestBody.self, request)
        if let reason = wish.unclean, reason.isEmpty || reason.utf8.count > 1000 {
            throw APIError(400, "malformed-reason", "unclean needs a reason of 1 to 1000 bytes")
        }
        // Before the order is on its way; what comes of it is in the agent's log.
        try await store.enterAudit(
            "device-release-ordered",
            "device \(udid.prefix(80))",
            details: wish.unclean.map { ["unclean": $0] } ?? [:],
            actor: caller,
            now: Timestamp.now().milliseconds
        )
        let order = try await farm.release(udid, unclean: wish.unclean, by: caller)
        switch order.state {
        case .released: return Self.json(order)
        case .ordered: return Self.json(order, status: 202)
        case .refused:
            let cause = order.cause.map { "\($0)" } ?? "its agent does not say why"
            throw APIError(409, "release-refused", "device \(order.udid) is still kept by \(order.slot): \(cause)")
        }
    }

    /// The latest order to release a device.
    func releaseOrder(_ udid: String) async throws -> HTTPResponse {
        guard let order = await farm.releaseOrder(for: udid) else {
            let name = udid.prefix(80).debugDescription
            throw APIError(404, "unknown-release", "nobody has ordered the release of \(name)")
        }
        return Self.json(order)
    }
}
