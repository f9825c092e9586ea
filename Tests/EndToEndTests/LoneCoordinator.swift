import BerthSystem
import BerthTestSupport
import Foundation

/// A coordinator without any host, for what it does with its callers and its disk.
struct LoneCoordinator: Sendable {
    let address: String
    let token: String
    private let process: ChildProcess

    /// Starts one on a data folder.
    static func start(data: String, log: String) async throws -> LoneCoordinator {
        let process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: "\(TestFarm.products)/berth-coordinator",
                arguments: ["serve", "--data", data, "--listen", "127.0.0.1:0"],
                environment: TestFarm.environment,
                standardError: .appendingFile(log)
            )
        )
        func text(_ name: String) throws -> String {
            String(decoding: try DurableFile.read("\(data)/\(name)", limit: 4096), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        do {
            try await eventually("the coordinator has an address") { (try? text("address"))?.isEmpty == false }
            return LoneCoordinator(address: try text("address"), token: try text("admin.token"), process: process)
        } catch {
            await process.end(grace: .seconds(1))
            throw error
        }
    }

    func stop() async {
        await process.end(grace: .seconds(5))
    }

    func berth(_ arguments: [String], token: String? = nil) async throws -> CommandResult {
        var environment = TestFarm.environment
        environment["BERTH_COORDINATOR"] = address
        environment["BERTH_TOKEN"] = token ?? self.token
        return try await CommandRunner.run(
            ProcessSpecification(
                executable: "\(TestFarm.products)/berth",
                arguments: arguments,
                environment: environment
            ),
            timeout: .seconds(60),
            outputLimit: 1 << 20
        )
    }
}
