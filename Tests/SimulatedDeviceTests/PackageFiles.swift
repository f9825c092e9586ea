import Foundation

/// Files beside the package and beside this test program.
enum PackageFiles {
    /// A file of the material that lies beside the package's folder, where it is there.
    static func shared(_ name: String) -> String {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return root.deletingLastPathComponent().appendingPathComponent("shared").appendingPathComponent(name).path
    }

    /// A program that was built together with this test program.
    static func product(_ name: String) throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name).path
    }
}
