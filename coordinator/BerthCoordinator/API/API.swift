import BerthArchive
import BerthCore
import BerthHosts
import BerthStore
import BerthSystem
import Foundation

/// The HTTP API (docs/api.md): routes, checks who asks, and turns results into JSON.
package struct API: Sendable {
    /// Longest blob that a caller may send, in bytes.
    package static let blobLimit = 512 << 20
    /// Longest other body, in bytes.
    package static let bodyLimit = 1 << 20

    let farm: Farm
    let store: Store
    let archive: CoordinatorArchive
    let ssh: SSHEventLoopGroup
    /// What `GET /v1/verdicts` is judged by.
    let policies: [GatePolicy]
    /// Whether a host's record may have a command that the coordinator runs: whoever enrols hosts then runs commands
    /// as the coordinator's user.
    let allowsProxyCommands: Bool

    package init(
        farm: Farm,
        store: Store,
        archive: CoordinatorArchive,
        ssh: SSHEventLoopGroup,
        policies: [GatePolicy] = [.standard],
        allowsProxyCommands: Bool = false
    ) {
        self.farm = farm
        self.store = store
        self.archive = archive
        self.ssh = ssh
        self.policies = policies
        self.allowsProxyCommands = allowsProxyCommands
    }

    /// The longest body that is taken for a request.
    package static func bodyLimit(method: String, path: String) -> Int {
        method == "PUT" && path.hasPrefix("/v1/blobs/") ? blobLimit : bodyLimit
    }

    /// Looks who asks, and whether the role allows it, before the body is taken.
    /// - Parameter request: without its body.
    /// - Returns: the refusal; nil to go on.
    package func refusal(of request: HTTPRequest) async -> HTTPResponse? {
        do {
            let caller = try await authenticate(request)
            try await admit(request, try Self.parts(of: request), caller)
            return nil
        } catch {
            let refusal = APIError(error)
            return Self.json(refusal.body, status: refusal.status)
        }
    }

    /// Answers a request; never throws, a refusal is an answer too.
    package func handle(_ request: HTTPRequest) async -> HTTPResponse {
        if let page = Dashboard.response(to: request) { return page }
        do {
            let caller = try await authenticate(request)
            return try await route(request, caller: caller)
        } catch {
            let refusal = APIError(error)
            return Self.json(refusal.body, status: refusal.status)
        }
    }

    private func authenticate(_ request: HTTPRequest) async throws -> Caller {
        guard let header = request.headers["Authorization"], header.hasPrefix("Bearer ") else {
            throw APIError(
                401,
                "unauthorized",
                "the request carries no bearer token; set BERTH_TOKEN or BERTH_TOKEN_FILE"
            )
        }
        let token = header.dropFirst("Bearer ".count).trimmingCharacters(in: .whitespaces)
        // Tokens are compared by digest in the store, which holds nothing else of them.
        let digest = Digest.sha256(of: Array(token.utf8))
        guard let known = try await store.tokenName(hash: digest) else {
            throw APIError(401, "unauthorized", "the bearer token is not known to this coordinator")
        }
        return Caller(name: known.name, roleWord: known.role, token: digest)
    }

    /// The parts of a request's path after the version.
    private static func parts(of request: HTTPRequest) throws -> [String] {
        let parts = request.path.split(separator: "/").map(String.init)
        guard parts.first == "v1" else {
            throw APIError(404, "unknown-path", "there is no \(request.path); the API lies under /v1")
        }
        return Array(parts.dropFirst())
    }

    private func route(_ request: HTTPRequest, caller known: Caller) async throws -> HTTPResponse {
        let rest = try Self.parts(of: request)
        try await admit(request, rest, known)
        let caller = known.name
        let argument = rest.count > 1 ? rest[1] : ""
        switch (request.method, rest.first ?? "", rest.count) {
        case ("GET", "status", 1): return try await status()
        case ("POST", "blobs", 2) where argument == "missing":
            let list = try body(BlobList.self, request)
            return Self.json(MissingList(missing: await archive.missing(list.blobs)))
        case ("PUT", "blobs", 2):
            let isNew = try await archive.store(request.body, as: try digest(argument))
            return Self.json([String: String](), status: isNew ? 201 : 200)
        case ("GET", "blobs", 2): return try await blob(try digest(argument))
        case ("GET", "evidence", 3): return try await evidence(try digest(rest[2]), of: try digest(argument))
        case ("POST", "builds", 1): return try await addBuild(try body(BuildRequest.self, request))
        case ("GET", "builds", 1): return Self.json(try await store.builds())
        case ("GET", "builds", 2): return Self.json(try await store.build(matching: argument))
        case ("POST", "cases", 1): return try await addCase(request.body)
        case ("GET", "cases", 1): return Self.json(try await store.cases())
        case ("GET", "cases", 2): return Self.json(try await store.caseRecord(named: argument))
        case ("POST", "host-keys", 1): return try await hostKey(try body(HostKeyRequest.self, request))
        case ("POST", "hosts", 1): return try await addHost(try body(HostRecord.self, request), caller)
        case ("GET", "hosts", 1): return Self.json(try await hostViews())
        case ("POST", "hosts", 3) where rest[2] == "trust":
            return Self.json(try await trust(argument, try body(HostTrustRequest.self, request), caller: caller))
        case ("POST", "hosts", 4) where rest[2] == "trust" && rest[3] == "withdraw":
            return Self.json(try await withdrawKey(of: argument, caller: caller))
        case ("POST", "hosts", 3) where rest[2] == "change":
            return try await changeHost(argument, try body(HostChange.self, request), caller)
        case ("POST", "hosts", 3) where rest[2] == "remove": return try await removeHost(argument, caller)
        case ("POST", "hosts", 3) where rest[2] == "doctor": return Self.json(try await doctor(argument))
        case ("GET", "audit", 1): return try await audit(request.query)
        case ("GET", "devices", 1): return Self.json(try await farm.devices())
        case ("GET", "devices", 3) where rest[2] == "release": return try await releaseOrder(argument)
        case ("POST", "devices", 3) where rest[2] == "release":
            return try await release(argument, request, caller: caller)
        case ("POST", "batches", 1):
            return try await submit(
                try body(BatchRequest.self, request),
                key: request.headers["Idempotency-Key"],
                content: Digest.sha256(of: request.body),
                caller: caller
            )
        case ("POST", "plans", 1):
            return try await submit(
                try body(Plan.self, request),
                key: request.headers["Idempotency-Key"],
                content: Digest.sha256(of: request.body),
                caller: caller
            )
        case ("POST", "plans", 2) where argument == "check": return try await check(try body(Plan.self, request))
        case ("POST", "replays", 1):
            return try await replay(
                try body(ReplayRequest.self, request),
                key: request.headers["Idempotency-Key"],
                content: Digest.sha256(of: request.body),
                caller: caller
            )
        case ("POST", "runs", 3) where rest[2] == "cancel": return try await cancelRun(argument, caller: caller)
        case ("POST", "batches", 3) where rest[2] == "cancel": return try await cancelBatch(argument, caller: caller)
        case ("GET", "batches", 1):
            var views: [BatchView] = []
            for batch in try await store.batches(limit: 100) { views.append(await withProgress(batch)) }
            return Self.json(views)
        case ("GET", "batches", 2): return Self.json(await withProgress(try await store.batch(id: argument)))
        case ("GET", "runs", 1): return Self.json(await withProgress(try await runs(request.query)))
        case ("GET", "runs", 2): return Self.json(await withProgress([try await store.run(id: argument)])[0])
        case ("GET", "ledgers", 2): return try await ledger(argument, last: try limit(request.query["last"], "last"))
        case ("GET", "runs", 3) where rest[2] == "why": return Self.json(try await farm.why(run: argument))
        case ("GET", "slots", 3) where rest[2] == "why": return Self.json(try await why(slot: argument))
        case ("POST", "slots", 3): return try await change(.slot(argument), rest[2], request, caller: caller)
        case ("POST", "hosts", 3): return try await change(.host(argument), rest[2], request, caller: caller)
        case ("POST", "farm", 2): return try await change(.farm, argument, request, caller: caller)
        case ("GET", "services", 1): return Self.json(try await store.services())
        case ("POST", "reservations", 1):
            return try await reserve(try body(ReservationRequest.self, request), caller: caller)
        case ("GET", "reservations", 1): return Self.json(try await reservations())
        case ("POST", "reservations", 3) where rest[2] == "end":
            return try await endReservation(argument, caller: caller)
        case ("POST", "limits", 1): return try await setLimit(try body(LimitRequest.self, request), caller: caller)
        case ("GET", "limits", 1): return Self.json(try await store.limits().map(LimitView.init))
        case ("POST", "submitters", 3) where rest[2] == "cancel":
            return try await cancelSubmitter(request.segments[2], caller: caller)
        case ("POST", "tokens", 1): return try await addToken(try body(TokenRequest.self, request), caller: caller)
        case ("GET", "tokens", 1): return Self.json(try await store.tokens())
        case ("POST", "tokens", 3) where rest[2] == "revoke": return try await revokeToken(argument, caller: caller)
        case ("GET", "verdicts", 1): return Self.json(try await verdicts())
        case ("GET", "events", 1): return try await events(after: request.headers["Last-Event-ID"], for: known)
        case ("POST", "gate", 1): return try await gate(try body(GateRequest.self, request))
        default:
            throw APIError(
                404,
                "unknown-path",
                "there is no \(request.method) \(request.path); see docs/api.md for what there is"
            )
        }
    }

    private func status() async throws -> HTTPResponse {
        let counts = try await store.counts()
        return Self.json(
            FarmStatus(
                version: BerthVersion.text,
                coordinator: farm.name,
                hosts: try await hostViews(),
                queued: counts.queued,
                running: counts.running,
                oldestQueuedAt: try await store.oldestQueued(),
                services: try await store.services()
            )
        )
    }

    private func blob(_ digest: Digest) async throws -> HTTPResponse {
        if let (path, size) = await archive.location(of: digest) { return Self.file(path, size: size) }
        // An attempt's evidence manifest lies in the pack that it names.
        return try await evidence(digest, of: digest)
    }

    private func evidence(_ file: Digest, of manifest: Digest) async throws -> HTTPResponse {
        guard let location = try await archive.location(of: file, in: manifest) else {
            let place = file == manifest ? "" : ", neither by itself nor in the evidence \(manifest)"
            throw APIError(404, "unknown-blob", "the archive has no blob \(file)\(place)")
        }
        return Self.file(location.path, offset: location.offset, size: location.size)
    }

    private static func file(_ path: String, offset: UInt64 = 0, size: Int64) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: ["Content-Type": "application/octet-stream"],
            body: .file(path: path, offset: offset, size: UInt64(size))
        )
    }

    private func addBuild(_ request: BuildRequest) async throws -> HTTPResponse {
        let (description, size) = try await archive.inspect(request.manifest)
        let (record, isNew) = try await store.addBuild(
            request.manifest,
            description,
            size: size,
            now: Timestamp.now().milliseconds
        )
        return Self.json(record, status: isNew ? 201 : 200)
    }

    private func hostKey(_ request: HostKeyRequest) async throws -> HTTPResponse {
        let key = try await ssh.fetchHostKey(hostName: request.hostName, port: request.port)
        return Self.json(HostKeyView(hostKey: key.line, fingerprint: key.fingerprint))
    }

    private func ledger(_ name: String, last: Int?) async throws -> HTTPResponse {
        guard let kind = DeviceKind(rawValue: name) else {
            throw APIError(404, "unknown-ledger", "there is no ledger \(name); there are simulator and hardware")
        }
        let (entries, head) =
            if let last { try await store.ledger(kind, last: last) } else { try await store.ledger(kind) }
        return Self.json(LedgerView(head: head, entries: entries))
    }

    private func digest(_ hex: String) throws -> Digest {
        guard let digest = Digest("sha256:\(hex)") else {
            throw APIError(
                400,
                "malformed-digest",
                "\(hex.prefix(80).debugDescription) is no digest; 64 lower-case hex digits are"
            )
        }
        return digest
    }

    func body<Body: Decodable>(_ type: Body.Type, _ request: HTTPRequest) throws -> Body {
        try CanonicalJSON.decode(type, from: request.body, document: "the request's body")
    }

    static func json(_ value: some Encodable, status: Int = 200) -> HTTPResponse {
        do {
            return HTTPResponse(
                status: status,
                headers: ["Content-Type": "application/json"],
                body: .bytes(try CanonicalJSON.encode(value))
            )
        } catch {
            return HTTPResponse(
                status: 500,
                headers: [:],
                body: .bytes(Array("cannot encode the answer: \(error)".utf8))
            )
        }
    }
}
