import BerthCore
import BerthStore

/// What each role may ask for.
extension API {
    /// Lets a request pass that the caller's role allows.
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - rest: the parts of its path after the version.
    ///   - caller: who asks.
    /// - Throws: `APIError` 403 `forbidden` or `not-yours`
    func admit(_ request: HTTPRequest, _ rest: [String], _ caller: Caller) async throws {
        guard let role = caller.role else {
            throw APIError(
                403,
                "forbidden",
                "token \(caller.name) has the role \(caller.roleWord.debugDescription), which this version does not know"
            )
        }
        if role.operates || Self.changesNothing(request.method, rest) { return }
        guard role == .submitter else { throw Self.forbidden(request, caller, "a submitter or an operator") }
        switch (request.method, rest.first ?? "", rest.count) {
        case ("PUT", "blobs", 2), ("POST", "builds", 1), ("POST", "cases", 1), ("POST", "batches", 1),
            ("POST", "plans", 1), ("POST", "replays", 1):
            return
        case ("POST", "runs", 3) where rest[2] == "cancel", ("POST", "batches", 3) where rest[2] == "cancel":
            try Self.requireOwn(rest[1], try await store.submitter(of: rest[1]), caller)
        case ("POST", "submitters", 3) where rest[2] == "cancel":
            try Self.requireOwn("all of \(rest[1])", rest[1], caller)
        default: throw Self.forbidden(request, caller, "an operator")
        }
    }

    /// Whether a request only asks, though it may need a body to do so.
    private static func changesNothing(_ method: String, _ rest: [String]) -> Bool {
        switch method {
        case "GET": true
        case "POST": [["gate"], ["plans", "check"], ["blobs", "missing"]].contains(rest)
        default: false
        }
    }

    private static func requireOwn(_ what: String, _ submitter: String, _ caller: Caller) throws {
        guard submitter == caller.name else {
            throw APIError(
                403,
                "not-yours",
                "\(what) was submitted by \(submitter): \(caller.name), a submitter, cancels its own only"
            )
        }
    }

    private static func forbidden(_ request: HTTPRequest, _ caller: Caller, _ who: String) -> APIError {
        APIError(
            403,
            "forbidden",
            "token \(caller.name) has the role \(caller.roleWord), which may not \(request.method) \(request.path): ask "
                + "\(who), or use another token"
        )
    }
}
