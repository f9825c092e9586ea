import BerthArchive
import BerthCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Calls the coordinator's HTTP API (docs/api.md).
struct APIClient: Sendable {
    /// The process's one session: it lives as long as the process, so nothing is torn down under a request.
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 60
        configuration.httpMaximumConnectionsPerHost = 8
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        return URLSession(configuration: configuration)
    }()

    private let access: CoordinatorAccess

    init(_ access: CoordinatorAccess) {
        self.access = access
    }

    func get<Value: Decodable>(
        _ path: String,
        query: [String: String] = [:],
        as type: Value.Type
    ) async throws -> APIAnswer<Value> {
        try read(await send(request("GET", path, query: query)), path, type)
    }

    /// Sends a document and reads the answer.
    func post<Value: Decodable>(
        _ path: String,
        _ document: some Encodable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> APIAnswer<Value> {
        var request = try request("POST", path)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = Data(try CanonicalJSON.encode(document))
        return try read(await send(request), path, type)
    }

    /// Sends a JSON file's bytes as they are.
    func post<Value: Decodable>(
        _ path: String,
        file bytes: [UInt8],
        as type: Value.Type
    ) async throws -> APIAnswer<Value> {
        var request = try request("POST", path)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(bytes)
        return try read(await send(request), path, type)
    }

    /// The bytes of a file of an attempt's evidence, compared with their digest.
    func evidence(_ file: Digest, of manifest: Digest) async throws -> [UInt8] {
        let bytes = try await send(request("GET", "/v1/evidence/\(manifest.hex)/\(file.hex)")).body
        let actual = Digest.sha256(of: bytes)
        guard actual == file else {
            throw CommandFailure(.failure, "the coordinator's copy is damaged: its bytes have the digest \(actual)")
        }
        return bytes
    }

    /// Sends a file as a blob, piece by piece from the disk.
    func putBlob(_ digest: Digest, file: String) async throws {
        let request = try request("PUT", "/v1/blobs/\(digest.hex)")
        _ = try await send(request) { try await Self.session.upload(for: $0, fromFile: URL(fileURLWithPath: file)) }
    }

    /// Sends bytes as a blob.
    func putBlob(_ digest: Digest, bytes: [UInt8]) async throws {
        let request = try request("PUT", "/v1/blobs/\(digest.hex)")
        _ = try await send(request) { try await Self.session.upload(for: $0, from: Data(bytes)) }
    }

    /// A path from parts that may hold any characters.
    static func path(_ parts: String...) -> String {
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:")
        return "/v1"
            + parts.map { "/" + ($0.addingPercentEncoding(withAllowedCharacters: allowed) ?? $0) }.joined()
    }

    private func request(_ method: String, _ path: String, query: [String: String] = [:]) throws -> URLRequest {
        var components = URLComponents(string: access.address + path)
        if !query.isEmpty {
            components?.queryItems = query.sorted { $0.key < $1.key }.map {
                URLQueryItem(name: $0.key, value: $0.value)
            }
        }
        guard let url = components?.url else {
            throw CommandFailure(.usage, "\(access.address.debugDescription) is no address of a coordinator")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let token = access.token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }

    private func send(
        _ request: URLRequest,
        by transport: (URLRequest) async throws -> (Data, URLResponse) = { try await Self.session.data(for: $0) }
    ) async throws -> (status: Int, body: [UInt8]) {
        let data: Data
        let response: URLResponse
        do {
            (data, response) = try await transport(request)
        } catch let error as URLError {
            throw CommandFailure(
                .unreachable,
                "the coordinator at \(access.address) cannot be reached: \(error.localizedDescription)"
            )
        }
        guard let status = (response as? HTTPURLResponse)?.statusCode else {
            throw CommandFailure(.unreachable, "what answers at \(access.address) does not speak HTTP")
        }
        let body = [UInt8](data)
        guard status < 400 else { throw refusal(status, body) }
        return (status, body)
    }

    private func read<Value: Decodable>(
        _ answer: (status: Int, body: [UInt8]),
        _ path: String,
        _ type: Value.Type
    ) throws -> APIAnswer<Value> {
        do {
            let value = try CanonicalJSON.decode(type, from: answer.body, document: "the answer to \(path)")
            return APIAnswer(value: value, status: answer.status, body: answer.body)
        } catch {
            throw CommandFailure(
                .failure,
                "\(error); is \(access.address) a coordinator of version \(BerthVersion.text)?"
            )
        }
    }

    private func refusal(_ status: Int, _ body: [UInt8]) -> CommandFailure {
        let words = try? CanonicalJSON.decode(ErrorBody.self, from: body, document: "refusal")
        let message = words?.description ?? "\(access.address) answered with HTTP status \(status)"
        switch status {
        case 401, 403:
            let hint = access.token == nil ? "; no token was sent: set BERTH_TOKEN or give --token-file" : ""
            return CommandFailure(.unauthorized, message + hint)
        case 429, 502, 503, 504, 507: return CommandFailure(.refusedForNow, message)
        case 400..<500:
            let problems = words?.error.problems ?? []
            return CommandFailure(words == nil ? .failure : .badInput, message, problems: problems)
        default: return CommandFailure(.failure, message)
        }
    }
}
