import BerthSystem
import CBerthSystem
import Foundation

/// The Swift runtime libraries that this program itself is linked with.
enum SwiftLibraries {
    /// Parts of the toolchain's library folder that apps do not link to.
    private static let excluded = ["libXCTest.", "libTesting.", "lib_Testing", "lib_InternalSwift", "libswiftRemote"]

    /// Absolute paths of the libraries that lie beside the Swift core library of this process.
    ///
    /// - Throws: `SimulatorError` when this program carries its Swift libraries inside itself.
    static func ofThisProcess() throws -> [String] {
        let maps = try String(decoding: procFile("/proc/self/maps"), as: UTF8.self)
        let core = maps.split(separator: "\n").lazy
            .compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
            .first { $0.hasSuffix("/libswiftCore.so") }
        guard let core else {
            throw SimulatorError.hostFailure(
                "This berth-sim is linked statically, so it cannot say which Swift libraries apps need.",
                "Put a runtime into the folder that BERTH_SIM_RUNTIMES names."
            )
        }
        let folder = URL(fileURLWithPath: core).deletingLastPathComponent().path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return names.filter { name in
            name.hasPrefix("lib") && name.contains(".so") && !excluded.contains { name.hasPrefix($0) }
        }.map { "\(folder)/\($0)" }
    }

    /// Puts a library into a folder: as another name of the same file, or as a copy where that cannot be.
    static func place(_ library: String, in folder: String) throws {
        let target = "\(folder)/\(URL(fileURLWithPath: library).lastPathComponent)"
        let source = URL(fileURLWithPath: library).resolvingSymlinksInPath().path
        if link(source, target) == 0 { return }
        let input = try FileDescriptor(path: source, flags: O_RDONLY)
        let output = try FileDescriptor(path: target, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o755)
        let code = berth_copy_content(input.number, output.number)
        guard code == 0 else { throw SystemError(operation: "copy", path: source, code: code) }
    }

    /// A file of /proc, whose size the kernel gives as 0.
    private static func procFile(_ path: String) throws -> [UInt8] {
        let file = try FileDescriptor(path: path, flags: O_RDONLY)
        var bytes: [UInt8] = []
        while true {
            let part = try file.read(upTo: 1 << 16)
            if part.isEmpty { return bytes }
            bytes += part
        }
    }
}
