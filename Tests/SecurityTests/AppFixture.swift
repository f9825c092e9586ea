import BerthSystem
import Foundation

/// A booted simulated device and apps compiled against the Security module as it was just built.
final class AppFixture: Sendable {
    /// The folder that everything of the test lies in; the device ends with it.
    let folder: String
    private let products: String
    let environment: [String: String]

    /// Where the built module and its objects lie beside this test program, if they do.
    static let module: String? = {
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
        let products = URL(fileURLWithPath: own).deletingLastPathComponent().path
        let files = FileManager.default
        let found =
            files.fileExists(atPath: "\(products)/Modules/Security.swiftmodule")
            && files.fileExists(atPath: "\(products)/Security.build")
            && files.fileExists(atPath: "\(products)/berth-sim")
        return found ? products : nil
    }()

    /// The Swift compiler, if there is one in PATH.
    static let compiler: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    static let canCompile = module != nil && compiler != nil

    /// The folder of the package, and a file of the material beside it.
    static func shared(_ name: String) -> String {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return root.deletingLastPathComponent().appendingPathComponent("shared").appendingPathComponent(name).path
    }

    init() throws {
        guard let module = Self.module else { throw Failure(text: "the built Security module is not beside the tests") }
        products = module
        folder = "\(FileManager.default.temporaryDirectory.path)/berth-security-\(Hex.encode(RandomBytes.make(6)))"
        try DurableFile.makeFolder("\(folder)/home")
        environment = [
            "HOME": "\(folder)/home",
            "PATH": "\(folder)/tools:/usr/bin:/bin",
            "BERTH_SIM_RUNTIMES": "\(folder)/runtimes",
            "BERTH_SIM_END_WITH": folder,
        ]
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    struct Failure: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    /// Compiles a program against the Security module.
    ///
    /// - Returns: the program's path.
    func compile(_ source: String, name: String) async throws -> String {
        let file = "\(folder)/\(name).swift"
        let program = "\(folder)/\(name)"
        try Data(source.utf8).write(to: URL(fileURLWithPath: file))
        let objects = try FileManager.default.contentsOfDirectory(atPath: "\(products)/Security.build")
            .filter { $0.hasSuffix(".o") }.map { "\(products)/Security.build/\($0)" }
        let answer = try await run(
            Self.compiler ?? "swiftc",
            ["-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-I", "\(products)/Modules", file]
                + objects + ["-o", program],
            environment: ProcessInfo.processInfo.environment
        )
        guard answer.exit == 0 else { throw Failure(text: "the compiler says: \(answer.error)\(answer.output)") }
        return program
    }

    /// Makes a bundle around a program.
    func bundle(
        _ program: String,
        name: String,
        identifier: String = "com.example.product",
        entitlements: [String: any Sendable]? = nil
    ) throws -> String {
        let path = "\(folder)/\(name).app"
        try DurableFile.makeFolder(path)
        try FileManager.default.copyItem(atPath: program, toPath: "\(path)/\(name)")
        try write(["CFBundleIdentifier": identifier, "CFBundleExecutable": name], to: "\(path)/Info.plist")
        if let entitlements { try write(entitlements, to: "\(path)/archived-expanded-entitlements.xcent") }
        return path
    }

    private func write(_ plist: [String: any Sendable], to path: String) throws {
        try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0)
            .write(to: URL(fileURLWithPath: path))
    }

    /// Puts the tools into PATH and makes a device in the user's own set.
    ///
    /// - Returns: its UDID.
    func device() async throws -> String {
        _ = try await run("\(products)/berth-sim", ["tools", "\(folder)/tools"])
        return try await simctl("create", "phone", "Linux Phone")
    }

    /// Runs a simctl command that must succeed.
    ///
    /// - Returns: its standard output without the last line break.
    func simctl(_ arguments: String...) async throws -> String {
        let answer = try await run("\(products)/berth-sim", ["simctl"] + arguments)
        guard answer.exit == 0 else { throw Failure(text: "\(arguments) answered \(answer.exit): \(answer.error)") }
        return answer.output.trimmingCharacters(in: .newlines)
    }

    /// Installs a bundle and launches it with its output on the console.
    ///
    /// - Returns: what the app printed, line by line.
    func output(of bundle: String, on udid: String, _ arguments: String...) async throws -> [String] {
        _ = try await simctl("install", udid, bundle)
        let launch = ["simctl", "launch", "--console", udid, "com.example.product"] + arguments
        let answer = try await run("\(products)/berth-sim", launch)
        guard answer.exit == 0 else { throw Failure(text: "launch answered \(answer.exit): \(answer.error)") }
        return answer.output.split(separator: "\n").dropFirst().map(String.init)
    }

    func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String]? = nil
    ) async throws -> (exit: Int32, output: String, error: String) {
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: program,
                arguments: arguments,
                environment: environment ?? self.environment
            ),
            timeout: .seconds(50)
        )
        let exit: Int32 = if case .exited(let status) = result.termination { status } else { -1 }
        return (exit, result.outputText, result.errorText)
    }
}
