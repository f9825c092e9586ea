import Foundation

/// `Documents/berth` in the app's data container.
struct StatusFolder {
    let path: String

    static func ofThisApp() throws -> StatusFolder {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        let path = home + "/Documents/berth"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return StatusFolder(path: path)
    }

    func countLaunch() throws -> Int {
        let launch = (number(".launch").map { Int($0) } ?? 0) + 1
        try write(Array("\(launch)".utf8), as: ".launch")
        return launch
    }

    /// The epoch that an earlier launch left; the seed leaves its own.
    func marker(_ request: Request) throws -> UInt64? {
        let marker = number(".epoch")
        if request.phase == "seed", let epoch = request.epoch { try write(Array("\(epoch)".utf8), as: ".epoch") }
        return marker
    }

    func write(_ bytes: [UInt8], as name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"), options: .atomic)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    }

    private func number(_ name: String) -> UInt64? {
        (try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)).flatMap { UInt64($0) }
    }
}
