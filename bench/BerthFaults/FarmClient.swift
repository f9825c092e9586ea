import BerthCore
import BerthSystem
import Foundation

/// Speaks to a farm's API as a client in CI does: it asks again with the same key until it has an answer.
struct FarmClient: Sendable {
    private let direct: UInt16
    private let flaky: UInt16
    private let data: String

    init(direct: UInt16, flaky: UInt16, data: String) {
        self.direct = direct
        self.flaky = flaky
        self.data = data
    }

    var address: String { "http://127.0.0.1:\(direct)" }

    /// Nil when there is no answer.
    func status() async -> FarmStatus? {
        guard let answer = await ask(["\(address)/v1/status"], limit: 5), answer.code == 200 else { return nil }
        return try? CanonicalJSON.decode(FarmStatus.self, from: answer.body, document: "status")
    }

    /// Submits runs through the proxy that loses replies.
    /// - Returns: the runs' IDs, or nil when there is no answer yet; then the same key may be used again.
    func submit(key: String, repeats: Int) async -> [String]? {
        let request = BatchRequest(
            old: "old",
            new: ["new"],
            cases: ["fresh-install"],
            platform: .standIn,
            os: "latest",
            repeats: repeats,
            priority: 0
        )
        guard let body = try? CanonicalJSON.encode(request),
            let answer = await ask(
                [
                    "-H", "Idempotency-Key: \(key)", "-H", "Content-Type: application/json", "--data-binary", "@-",
                    "http://127.0.0.1:\(flaky)/v1/batches",
                ],
                input: body,
                limit: 5
            ), answer.code == 200 || answer.code == 201
        else { return nil }
        return (try? CanonicalJSON.decode(BatchView.self, from: answer.body, document: "batch"))?.runs.map(\.id)
    }

    /// The canonical bytes of a ledger's entries.
    func ledger(_ kind: DeviceKind) async -> [[UInt8]]? {
        guard let answer = await ask(["\(address)/v1/ledgers/\(kind.rawValue)"], limit: 120), answer.code == 200,
            let view = try? CanonicalJSON.decode(LedgerView.self, from: answer.body, document: "ledger")
        else { return nil }
        return try? view.entries.map { try CanonicalJSON.encode($0) }
    }

    private func ask(_ arguments: [String], input: [UInt8] = [], limit: Int) async -> (code: Int, body: [UInt8])? {
        guard let token = try? DurableFile.read("\(data)/admin.token", limit: 4096) else { return nil }
        let result = try? await CommandRunner.run(
            ProcessSpecification(
                executable: "/usr/bin/curl",
                arguments: [
                    "-s", "-w", "%{http_code}", "-m", "\(limit)", "-H",
                    "Authorization: Bearer \(String(decoding: token, as: UTF8.self).trimmingCharacters(in: .newlines))",
                ] + arguments,
                environment: ["PATH": "/usr/bin:/bin"]
            ),
            input: input,
            timeout: .seconds(limit + 1),
            outputLimit: 1 << 30
        )
        guard let result, result.termination == .exited(0),
            let code = Int(String(decoding: result.output.suffix(3), as: UTF8.self))
        else { return nil }
        return (code, Array(result.output.dropLast(3)))
    }
}
