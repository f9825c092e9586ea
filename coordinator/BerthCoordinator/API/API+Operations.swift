import BerthCore
import BerthStore
import BerthSystem

/// What operators do to the farm. Whoever holds the token is the actor.
extension API {
    // MARK: - Out of use, and back

    func change(
        _ scope: ServiceScope,
        _ verb: String,
        _ request: HTTPRequest,
        caller: String
    ) async throws -> HTTPResponse {
        let state: ServiceState.State
        switch verb {
        case "drain": state = .drained
        case "maintenance": state = .maintenance
        case "resume": return try await resume(scope, caller: caller)
        default:
            throw APIError(
                404,
                "unknown-path",
                "there is no \(request.method) \(request.path): \(scope.kind)s take drain, maintenance and resume"
            )
        }
        let wish = request.body.isEmpty ? ServiceRequest(reason: nil) : try body(ServiceRequest.self, request)
        let service = try await named(scope) {
            try await store.takeOutOfUse(
                scope,
                state,
                reason: try reason(wish.reason),
                actor: caller,
                now: Timestamp.now().milliseconds
            )
        }
        published(scope)
        return Self.json(service)
    }

    private func resume(_ scope: ServiceScope, caller: String) async throws -> HTTPResponse {
        let former = try await named(scope) {
            try await store.resume(scope, actor: caller, now: Timestamp.now().milliseconds)
        }
        published(scope)
        let host: String? =
            if case .slot(let name) = scope {
                try await store.slots().first { $0.name == name }?.host
            } else { nil }
        let above: [ServiceScope?] =
            switch scope {
            case .farm: []
            case .host: [.farm]
            case .slot: [host.map(ServiceScope.host), .farm]
            }
        return Self.json(
            ResumedView(former: former, remaining: try await store.services().filter { above.contains($0.scope) })
        )
    }

    private func published(_ scope: ServiceScope) {
        switch scope {
        case .slot(let name): farm.changes.publish(.init(.slot, name))
        case .host, .farm: farm.changes.publish(.init(.host, scope.name))
        }
        farm.wake()
    }

    /// A reason as the caller gave it.
    private func reason(_ text: String?) throws -> String {
        guard let text, text.contains(where: { !$0.isWhitespace }), text.utf8.count <= ServiceRequest.reasonLimit else {
            throw APIError(
                400,
                "malformed-reason",
                "a reason of 1 to \(ServiceRequest.reasonLimit) bytes is needed, for who wants to change this later"
            )
        }
        return text
    }

    func why(slot name: String) async throws -> SlotWhyView {
        try await named(.slot(name)) { try await farm.why(slot: name) }
    }

    /// Has a refusal of an unknown slot say which ones there are.
    private func named<Value>(_ scope: ServiceScope, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as StoreError {
            guard case .unknownSlot(let name) = error else { throw error }
            let known = try await store.slots().map(\.name)
            let list = known.isEmpty ? "" : "; there are \(known.prefix(20).joined(separator: ", "))"
            let more = known.count > 20 ? " and \(known.count - 20) more" : ""
            throw APIError(
                error.httpStatus,
                error.code,
                "no slot is called \(name.prefix(80).debugDescription)\(list)\(more)"
                    + (known.isEmpty ? ": no agent has reported one yet" : "")
            )
        }
    }

    // MARK: - Reservations and limits

    func reserve(_ request: ReservationRequest, caller: String) async throws -> HTTPResponse {
        let now = Timestamp.now().milliseconds
        guard let until = Deadline(request.until) else {
            throw APIError(
                400,
                "malformed-deadline",
                "until must be \(Deadline.accepted), not \(request.until.prefix(80).debugDescription)"
            )
        }
        let reservation = try await named(.slot(request.slot)) {
            try await store.reserve(
                slot: request.slot,
                batch: request.batch,
                label: request.label,
                until: until.milliseconds(now: now),
                reason: try reason(request.reason),
                actor: caller,
                now: now
            )
        }
        published(.slot(request.slot))
        return Self.json(reservation, status: 201)
    }

    func reservations() async throws -> [Reservation] {
        try await store.reservations(now: Timestamp.now().milliseconds)
    }

    func endReservation(_ id: String, caller: String) async throws -> HTTPResponse {
        let all = try await reservations()
        guard let ended = all.first(where: { $0.id == id }),
            try await store.endReservation(id, actor: caller, now: Timestamp.now().milliseconds)
        else {
            let list = all.isEmpty ? "none is in force" : "in force are \(all.map(\.id).joined(separator: ", "))"
            throw APIError(
                404,
                "unknown-reservation",
                "no reservation \(id.prefix(80).debugDescription) is in force; \(list)"
            )
        }
        published(.slot(ended.slot))
        return Self.json(ended)
    }

    func setLimit(_ request: LimitRequest, caller: String) async throws -> HTTPResponse {
        guard !request.name.isEmpty, request.name.utf8.count <= 200 else {
            throw APIError(400, "malformed-name", "a limit needs the name of its \(request.subject.rawValue)")
        }
        try await store.setLimit(
            request.subject,
            request.name,
            most: request.most,
            actor: caller,
            now: Timestamp.now().milliseconds
        )
        farm.wake()
        return Self.json(try await store.limits().map(LimitView.init))
    }

    // MARK: - Submitters

    /// Cancels all that a submitter has.
    func cancelSubmitter(_ name: String, caller: String) async throws -> HTTPResponse {
        let cancelled = try await store.cancelSubmitter(
            name,
            actor: caller,
            now: Timestamp.now().milliseconds
        )
        await farm.cancel(cancelled.open, reason: "\(caller) cancelled all runs of \(name)")
        for batch in cancelled.batches { farm.changes.publish(.init(.batch, batch)) }
        farm.wake()
        return Self.json(
            SubmitterCancellation(submitter: name, runs: cancelled.runs, ending: cancelled.open.count)
        )
    }
}
