import BerthSystem
import Foundation

/// labgrid's coordinator and exporter, run for real on loopback ports by a script of ours.
enum Labgrid {
    private struct Answer: Decodable {
        let rate: Double
    }

    /// Acquired and released places a second with so many clients over a time; nil when labgrid is not installed.
    static func rate(clients: Int, for length: Duration, _ options: BenchOptions) async throws -> Double? {
        guard let python = options.labgridPython else { return nil }
        let folder = "\(options.folder)/labgrid-\(Hex.encode(RandomBytes.make(4)))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let result = try await CommandRunner.run(
            ProcessSpecification(
                executable: python,
                arguments: [
                    "\(options.scripts)/labgrid_pairs.py", "--clients", "\(clients)", "--seconds",
                    "\(length.inSeconds)",
                ],
                environment: ["PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"],
                workingDirectory: folder
            ),
            timeout: length + .seconds(90)
        )
        guard result.termination == .exited(0) else {
            throw BenchFailure("labgrid: \(result.errorText.suffix(600))")
        }
        return try JSONDecoder().decode(Answer.self, from: Data(result.output)).rate
    }
}
