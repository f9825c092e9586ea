import BerthSystem
import CMicroHTTPD
import Foundation
import Synchronization

/// One request and its answer.
///
/// The daemon's thread brings the request in and fetches the answer; a task runs the handler in between, while the
/// connection is suspended. Whoever has something for a suspended connection resumes it, once.
final class HTTPExchange: Sendable {
    private enum Phase {
        /// The headers are being looked at, before a body is taken.
        case admitting
        case admitted
        /// Not admitted, and not told yet.
        case refused(HTTPResponse)
        /// Not admitted; the body is read and dropped, so that the client gets to see the answer.
        case dropping(HTTPResponse)
        case receiving
        case handling
        case answered(HTTPResponse)
        /// The answer has been handed to the library, which may still be fetching a stream.
        case sending
        case completed
    }

    private struct State {
        var phase = Phase.receiving
        var body: [UInt8] = []
        /// Bytes beyond the limit that were read and dropped.
        var dropped = 0
        var isSuspended = false
        var stream = HTTPStreamBuffer()
        var feeder: CheckedContinuation<Void, Never>?
        var tasks: [Task<Void, Never>] = []
    }

    /// A body that is refused is read to its end, so that the client gets to see the answer, but no further than this.
    private static let dropLimit = 64 << 20

    private let connection: MHDConnection
    private let method: String
    /// Nil if it was not UTF-8.
    private let path: String?
    private let headers: HTTPHeaders
    private let bodyLimit: Int
    /// Length of the body by its header; 0 if it says none.
    private let declared: Int
    /// The client asks before it sends its body.
    private let waitsForConsent: Bool
    private let core: HTTPServerCore
    private let state = Mutex(State())

    init(connection: MHDConnection, method: String, path: String?, core: HTTPServerCore) {
        self.connection = connection
        self.method = method
        self.path = path
        self.core = core
        headers = connection.headers
        bodyLimit = core.limits.maxBodyBytes(method, path ?? "")
        declared = headers["Content-Length"].flatMap { Int($0) } ?? 0
        waitsForConsent = headers["Expect"]?.lowercased() == "100-continue"
    }

    // MARK: On the daemon's thread

    /// The headers are there.
    func begin() -> MHD_Result {
        if declared > bodyLimit, waitsForConsent || declared - bodyLimit > Self.dropLimit { return refuseBody() }
        guard declared > 0 || headers["Transfer-Encoding"] != nil, let admission = core.admission else {
            return MHD_Result.YES
        }
        switch request() {
        case .success(let request): return suspend(.admitting) { self.admit(await admission(request)) }
        case .failure(let refusal): return send(Self.malformed(refusal))
        }
    }

    /// A part of the body is there; `MHD_Result.NO` breaks the connection.
    func receive(_ bytes: UnsafeRawBufferPointer) -> MHD_Result {
        let part = [UInt8](bytes)
        let goesOn = state.withLock { state in
            let isDropped = if case .dropping = state.phase { true } else { false }
            if state.body.isEmpty, state.dropped == 0, !isDropped {
                state.body.reserveCapacity(min(declared, bodyLimit, 32 << 20))
            }
            if isDropped || state.dropped > 0 || state.body.count + part.count > bodyLimit {
                state.body = []
                state.dropped += part.count
            } else {
                state.body += part
            }
            return state.dropped <= Self.dropLimit
        }
        return goesOn ? MHD_Result.YES : MHD_Result.NO
    }

    /// The request is complete, its body may come, or its answer is there.
    func proceed() -> MHD_Result {
        let (phase, dropped) = state.withLock { state in
            defer {
                switch state.phase {
                case .answered: state.phase = .sending
                case .admitted: state.phase = .receiving
                case .refused(let response): state.phase = .dropping(response)
                default: break
                }
            }
            return (state.phase, state.dropped)
        }
        switch phase {
        case .receiving:
            if dropped > 0 { return refuseBody() }
            switch request() {
            case .success(let request): return suspend(.handling) { self.answer(await self.core.handler(request)) }
            case .failure(let refusal): return send(Self.malformed(refusal))
            }
        case .admitted:
            // A body that dawdles holds up no stop.
            core.remove(self)
            return MHD_Result.YES
        case .refused(let response):
            core.remove(self)
            return waitsForConsent || declared > Self.dropLimit ? send(response) : MHD_Result.YES
        case .dropping(let response), .answered(let response): return send(response)
        case .admitting, .handling, .sending, .completed: return MHD_Result.YES
        }
    }

    /// The library has done with the request, whether or not it was answered.
    func completed() {
        let (tasks, feeder) = state.withLock { state in
            state.phase = .completed
            state.stream.end()
            defer {
                state.tasks = []
                state.feeder = nil
            }
            return (state.tasks, state.feeder)
        }
        for task in tasks { task.cancel() }
        feeder?.resume()
        core.remove(self)
    }

    /// Gives the library the next bytes of a stream: their number, 0 after suspending, or -1 at the end.
    func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        let size = target.count
        let (bytes, feeder) = state.withLock { state -> ([UInt8]?, CheckedContinuation<Void, Never>?) in
            if state.stream.isEmpty {
                if state.stream.hasEnded { return (nil, nil) }
                // Under the lock, so that who brings bytes finds the connection suspended.
                state.isSuspended = true
                connection.suspend()
                return ([], nil)
            }
            let bytes = state.stream.take(upTo: size)
            guard !state.stream.isFull else { return (bytes, nil) }
            defer { state.feeder = nil }
            return (bytes, state.feeder)
        }
        feeder?.resume()
        guard let bytes else { return -1 }
        target.copyBytes(from: bytes)
        return bytes.count
    }

    private func refuseBody() -> MHD_Result {
        let message = "the body has more than \(bodyLimit) bytes, the most that \(method) \(path ?? "") takes"
        return send(.error(status: 413, code: "body-too-large", message: message))
    }

    private func request() -> Result<HTTPRequest, MalformedRequest> {
        guard let path, let segments = PercentDecoding.segments(of: path) else {
            return .failure(MalformedRequest(reason: "the path cannot be decoded or contains . or .."))
        }
        var query: [String: String] = [:]
        for field in connection.rawQuery {
            guard let name = PercentDecoding.decode(field.name, plusIsSpace: true),
                let value = PercentDecoding.decode(field.value, plusIsSpace: true)
            else { return .failure(MalformedRequest(reason: "the query cannot be decoded")) }
            guard query.updateValue(value, forKey: name) == nil else {
                return .failure(MalformedRequest(reason: "the query gives \(name) twice"))
            }
        }
        let body = state.withLock { state in
            defer { state.body = [] }
            return state.body
        }
        return .success(
            HTTPRequest(
                method: method,
                path: path,
                segments: segments,
                query: query,
                headers: headers,
                body: body,
                peer: connection.peer
            )
        )
    }

    private struct MalformedRequest: Error {
        let reason: String
    }

    private static func malformed(_ refusal: MalformedRequest) -> HTTPResponse {
        .error(status: 400, code: "malformed-request", message: refusal.reason)
    }

    /// Suspends the connection while a task is at work for it.
    private func suspend(_ phase: Phase, while work: @escaping @Sendable () async -> Void) -> MHD_Result {
        guard core.add(self) else {
            return send(.error(status: 503, code: "stopping", message: "the coordinator is stopping; try again soon"))
        }
        state.withLock { state in
            state.phase = phase
            state.isSuspended = true
        }
        connection.suspend()
        Task { await work() }
        return MHD_Result.YES
    }

    private func send(_ response: HTTPResponse) -> MHD_Result {
        state.withLock { $0.phase = .sending }
        switch response.body {
        case .bytes(let bytes):
            return connection.answer(status: response.status, headers: response.headers, bytes: bytes)
        case .file(let path, let offset, let size):
            let result = connection.answer(
                status: response.status,
                headers: response.headers,
                file: path,
                offset: offset,
                size: size
            )
            if let result { return result }
            Log(component: "http").error("A file to send is missing or too short", ["path": path])
            return send(.error(status: 500, code: "internal", message: "what was asked for cannot be read"))
        case .stream(let stream):
            // Without a body nobody will read; dropping the stream cancels it.
            if method == "HEAD" {
                return connection.answer(status: response.status, headers: response.headers, bytes: [])
            }
            feed(stream, withKeepalive: response.headers["Content-Type"]?.hasPrefix("text/event-stream") == true)
            return connection.answer(status: response.status, headers: response.headers, streamOf: self)
        }
    }

    // MARK: On other threads

    /// Lets the body come, or refuses it.
    private func admit(_ refusal: HTTPResponse?) {
        let resumes = state.withLock { state in
            guard case .admitting = state.phase else { return false }
            state.phase = refusal.map(Phase.refused) ?? .admitted
            return Self.takeSuspension(&state)
        }
        if resumes { connection.resume() }
    }

    /// The handler's answer, or that of `stop()`; only the first counts.
    func answer(_ response: HTTPResponse) {
        let resumes = state.withLock { state in
            switch state.phase {
            case .handling, .admitting: state.phase = .answered(response)
            default: return false
            }
            return Self.takeSuspension(&state)
        }
        if resumes { connection.resume() }
    }

    /// Ends a stream, which has no end of its own before the client's.
    func endStream() {
        let (resumes, feeder, tasks) = state.withLock { state in
            state.stream.end()
            defer {
                state.feeder = nil
                state.tasks = []
            }
            if case .sending = state.phase { return (Self.takeSuspension(&state), state.feeder, state.tasks) }
            return (false, state.feeder, state.tasks)
        }
        for task in tasks { task.cancel() }
        feeder?.resume()
        if resumes { connection.resume() }
    }

    private func feed(_ stream: AsyncStream<[UInt8]>, withKeepalive: Bool) {
        let feeder = Task {
            for await bytes in stream { await self.push(bytes) }
            self.endStream()
        }
        var tasks = [feeder]
        if withKeepalive {
            let interval = core.limits.eventStreamKeepalive
            tasks.append(
                Task {
                    while (try? await Task.sleep(for: interval)) != nil { self.pushComment() }
                }
            )
        }
        let isOver = state.withLock { state in
            if state.stream.hasEnded { return true }
            state.tasks = tasks
            return false
        }
        if isOver { for task in tasks { task.cancel() } }
    }

    /// Adds bytes to the stream and waits while too many are there.
    private func push(_ bytes: [UInt8]) async {
        let resumes = state.withLock { state in
            state.stream.append(bytes)
            return Self.takeSuspension(&state)
        }
        if resumes { connection.resume() }
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.stream.hasEnded || !state.stream.isFull { return true }
                state.feeder = continuation
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// A comment line of an event stream, if nothing else is on its way.
    private func pushComment() {
        let resumes = state.withLock { state in
            guard state.isSuspended, !state.stream.hasEnded else { return false }
            state.stream.append(Array(":\n\n".utf8))
            return Self.takeSuspension(&state)
        }
        if resumes { connection.resume() }
    }

    /// Whether the connection was suspended; who gets true has to resume it.
    private static func takeSuspension(_ state: inout State) -> Bool {
        defer { state.isSuspended = false }
        return state.isSuspended
    }
}
