import Foundation

/// What the app does: the content of `behaviour.json`, with an action for each phase (docs/formats.md).
struct Behaviour: Decodable {
    enum Action: String, Decodable {
        /// Writes a status file by which all is well, and stays.
        case report
        /// Ends with status 3.
        case exit
        /// Ends by a signal.
        case crash
        /// Stays and writes nothing.
        case hang
        /// Writes a status file that is cut off.
        case malformed
        /// Writes the status file of another attempt.
        case foreign
        /// Writes a status file of 1 MiB.
        case huge
        /// Writes its status file under another launch's number.
        case misnumbered
        /// Makes its status file a symbolic link.
        case link
        /// Writes 64 MiB to its standard output.
        case flood
    }

    let seed: Action?
    let verify: Action?
    let cleanup: Action?
    let output: String?
    let reason: String?

    func action(_ phase: String) -> Action {
        switch phase {
        case "seed": seed ?? .report
        case "verify": verify ?? .report
        default: cleanup ?? .report
        }
    }

    static func ofThisBundle() throws -> Behaviour {
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let file = URL(fileURLWithPath: executable).deletingLastPathComponent().appendingPathComponent("behaviour.json")
        return try JSONDecoder().decode(Behaviour.self, from: Data(contentsOf: file))
    }
}
