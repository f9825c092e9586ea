import Foundation

/// Where the built executables and the repository lie.
enum Products {
    /// Beside the test bundle.
    static let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path

    static let repository: String = {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return root.path
    }()

    static func path(_ name: String) -> String { "\(folder)/\(name)" }
}
