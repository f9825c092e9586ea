import BerthSystem
import BerthTestSupport
import Foundation

/// A coordinator without any host, for what it does with its callers and its disk.
struct LoneCoordinator: Sendable {
    let address: String
    let token: String
    private let process: ChildProcess

    /// Starts one on a data folder.
    /// - Parameters:
    ///   - data: the folder.
    ///   - log: the file for what it says.
    ///   - words: those of the line of the log that has the address; absent: it is in the file `address`.
    /// - Returns: the coordinator, which serves.
    /// - Throws: when it does not serve soon.
    static func start(data: String, log: String, addressIn words: String? = nil) async throws -> LoneCoordinator {
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
        func address() throws -> String {
            guard let words else { return try text("address") }
            let log = String(decoding: try DurableFile.read(log, limit: 1 << 20), as: UTF8.self)
            let line = log.split(separator: "\n").last { $0.contains(words) }
            return line?.split(separator: " ").first { $0.hasPrefix("address=") }.map { String($0.dropFirst(8)) } ?? ""
        }
        do {
            try await eventually("the coordinator has an address") { (try? address())?.isEmpty == false }
            return LoneCoordinator(address: try address(), token: try text("admin.token"), process: process)
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
