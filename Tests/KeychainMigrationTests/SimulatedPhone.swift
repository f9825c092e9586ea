#if os(Linux)
    import BerthSystem
    import Foundation

    /// A booted simulated device of a test's own, with the sample apps as bundles.
    struct SimulatedPhone {
        static let app = "com.example.product"

        private let root: URL
        private let udid: String

        /// Boots a device in a folder of its own, and removes both in the end.
        static func run(_ body: (SimulatedPhone) async throws -> Void) async throws {
            let root = FileManager.default.temporaryDirectory.appendingPathComponent("phone-\(UUID().uuidString)")
            for name in ["set", "bundles", "alive"] {
                try FileManager.default.createDirectory(
                    at: root.appendingPathComponent(name),
                    withIntermediateDirectories: true
                )
            }
            do {
                let types = try await simctl(root, ["list", "devicetypes", "-j"])
                let type = try JSONDecoder().decode(DeviceTypes.self, from: Data(types.utf8)).devicetypes.first
                guard let type else { throw Failure(description: "the simulator offers no device type") }
                let phone = SimulatedPhone(
                    root: root,
                    udid: try await simctl(root, ["create", "phone", type.identifier])
                )
                _ = try await phone.simctl(["bootstatus", phone.udid, "-b"])
                try await body(phone)
                try await phone.end()
            } catch {
                _ = try? await simctl(root, ["shutdown", "all"])
                try? FileManager.default.removeItem(at: root)
                throw error
            }
        }

        private func end() async throws {
            _ = try await simctl(["shutdown", udid])
            try FileManager.default.removeItem(at: root)
        }

        /// Installs a sample app over what is there.
        func install(_ name: String, version: String, build: String) async throws {
            let bundle = root.appendingPathComponent("bundles/\(name).app").path
            let repository = Self.repository
            _ = try await Self.run(
                repository.appendingPathComponent("ops/bundle-app").path,
                [
                    Self.products.appendingPathComponent(name).path, bundle,
                    "--bundle-id", Self.app, "--version", version, "--build", build,
                    "--entitlements",
                    repository.appendingPathComponent("Sources/SampleApps/Product.entitlements").path,
                ],
                root
            )
            _ = try await simctl(["install", udid, bundle])
        }

        /// Launches the app for the probe and reads the status file of that launch.
        func probe(_ launch: Int, _ phase: String, _ arguments: [String]) async throws -> ParsedStatus {
            _ = try await simctl(["launch", "--terminate-running-process", udid, Self.app] + arguments)
            let file = try await container().appendingPathComponent("Documents/berth/\(launch)-\(phase).json")
            try await wait(for: file)
            return try ParsedStatus(file)
        }

        /// Launches the app as a user does, and returns the first line that it says.
        func launchPlainly() async throws -> String {
            let output = root.appendingPathComponent("output")
            _ = try await simctl([
                "launch", "--terminate-running-process", "--stdout=\(output.path)", udid, Self.app,
            ])
            try await wait(for: output) { !$0.isEmpty }
            _ = try await simctl(["terminate", udid, Self.app])
            return try String(contentsOf: output, encoding: .utf8)
        }

        /// The app's data container.
        func container() async throws -> URL {
            URL(fileURLWithPath: try await simctl(["get_app_container", udid, Self.app, "data"]))
        }

        private func wait(for file: URL, until isReady: (Data) -> Bool = { _ in true }) async throws {
            let end = ContinuousClock.now + .seconds(20)
            while true {
                if let data = FileManager.default.contents(atPath: file.path), isReady(data) { return }
                guard ContinuousClock.now < end else { throw Failure(description: "\(file.path) did not come") }
                try await Task.sleep(for: .milliseconds(10))
            }
        }

        private func simctl(_ arguments: [String]) async throws -> String {
            try await Self.simctl(root, arguments)
        }

        private static func simctl(_ root: URL, _ arguments: [String]) async throws -> String {
            let set = root.appendingPathComponent("set").path
            return try await run(
                products.appendingPathComponent("berth-sim").path,
                ["simctl", "--set", set] + arguments,
                root
            )
        }

        private static func run(_ executable: String, _ arguments: [String], _ root: URL) async throws -> String {
            var environment = ProcessInfo.processInfo.environment
            environment["BERTH_SIM_RUNTIMES"] = root.appendingPathComponent("runtimes").path
            // A device never outlives its test, even if the test is killed and its folder removed by someone else.
            environment["BERTH_SIM_END_WITH"] = root.appendingPathComponent("alive").path
            let result = try await CommandRunner.run(
                ProcessSpecification(executable: executable, arguments: arguments, environment: environment),
                timeout: .seconds(40)
            )
            guard result.termination == .exited(0) else {
                throw Failure(description: "\(executable) \(arguments): \(result.termination) \(result.errorText)")
            }
            return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        private static let repository: URL = {
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { root.deleteLastPathComponent() }
            return root
        }()

        /// Where the built executables lie: beside the test bundle.
        private static let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

        private struct DeviceTypes: Decodable {
            struct DeviceType: Decodable {
                var identifier: String
            }
            var devicetypes: [DeviceType]
        }

        struct Failure: Error, CustomStringConvertible {
            var description: String
        }
    }
#endif
