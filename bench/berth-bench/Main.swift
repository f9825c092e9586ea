import BerthCore
import BerthSystem
import Foundation

/// Makes one measurement and prints its rows, one JSON object a line.
@main
struct Main {
    private static let measurements: [String: @Sendable (BenchOptions) async throws -> [BenchRow]] = [
        "store": StoreMeasurement.run, "queue": QueueMeasurement.run, "postgres": PostgresMeasurement.run,
        "start": StartMeasurement.run, "idle": IdleMeasurement.run, "path": PathMeasurement.run,
        "ssh": SSHMeasurement.run,
    ]

    static func main() async {
        Signals.ignoreBrokenPipes()
        let arguments = CommandLine.arguments.dropFirst()
        do {
            guard let name = arguments.first, let measurement = measurements[name] else {
                let names = measurements.keys.sorted().joined(separator: ", ")
                throw BenchFailure("name a measurement first: \(names); ops/bench does")
            }
            for row in try await measurement(try BenchOptions(arguments.dropFirst())) {
                StandardStreams.writeOutput(String(decoding: try CanonicalJSON.encode(row), as: UTF8.self) + "\n")
            }
        } catch {
            StandardStreams.writeError("berth-bench: \(error)\n")
            exit(1)
        }
    }
}
