import BerthFaults
import BerthSystem
import Foundation

/// `ops/bench faults`.
struct FaultCommand {
    struct Usage: Error {
        let words: String
    }

    private var options: FaultOptions
    private var shows = false
    private var form = FaultForm.storm

    init(_ arguments: inout ArraySlice<String>) throws {
        let environment = ProcessInfo.processInfo.environment
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        options = FaultOptions(
            products: (program as NSString).deletingLastPathComponent,
            sources: environment["BERTH_SOURCES"] ?? FileManager.default.currentDirectoryPath
        )
        options.seed = UInt64.random(in: 1...999_999)
        while let argument = arguments.popFirst() {
            func value() throws -> String {
                guard let value = arguments.popFirst() else { throw Usage(words: "\(argument) needs a value") }
                return value
            }
            func number(_ range: ClosedRange<Int>) throws -> Int {
                let text = try value()
                guard let number = Int(text), range.contains(number) else {
                    throw Usage(
                        words: "\(argument) needs a number from \(range.lowerBound) to \(range.upperBound), not \(text)"
                    )
                }
                return number
            }
            switch argument {
            case "--seconds": options.seconds = try number(5...86_400)
            case "--seed": options.seed = UInt64(try number(0...Int.max))
            case "--hosts": options.hosts = try number(1...50)
            case "--slots": options.slotsPerHost = try number(1...50)
            case "--only":
                let text = try value()
                guard let form = FaultForm(rawValue: text) else {
                    let all = FaultForm.allCases.map(\.rawValue).joined(separator: ", ")
                    throw Usage(words: "--only \(text): there are \(all)")
                }
                self.form = form
            case "--runs": options.runs = try number(1...1_000_000)
            case "--show": shows = true
            case "--postgres": options.usesPostgres = true
            case "--keep": options.keepAt = try value()
            default: throw Usage(words: "unknown argument \(argument)")
            }
        }
        if shows, form != .storm {
            throw Usage(words: "--show breaks storms; it does not go with --only \(form.rawValue)")
        }
        if let place = options.keepAt, FileManager.default.fileExists(atPath: place) {
            throw Usage(words: "--keep \(place): it exists already; name a folder that does not")
        }
        options.tell = { StandardStreams.writeError("\($0)\n") }
    }

    func run() async throws -> Bool {
        if shows { return try await show() }
        var options = options
        if form != .storm, form != .results {
            let results = try await form.measure(options)
            for result in results { try write(result) }
            return results.allSatisfy { $0.met != false }
        }
        form.shape(&options)
        // Two thousand faults and more, with some quiet for work in between.
        if form == .storm, options.seconds >= 900 { options.pace = 500 }
        options.measuresCalm = form == .storm && options.seconds >= 30
        let outcome = try await FaultStorm.run(options)
        for line in outcome.report { options.tell(line) }
        for result in outcome.results { try write(result) }
        let isClean = outcome.finding.violations.isEmpty
        options.tell(isClean ? "nothing was violated" : "VIOLATED; repeat with --seed \(options.seed)")
        return isClean
    }

    /// How many storms a breakage may take to be noticed: which faults come together is chance.
    private static let storms = 6

    /// Each way of breaking the agents must be noticed.
    private func show() async throws -> Bool {
        var areAllNoticed = true
        for breakage in Breakage.allCases {
            var words = "NOT NOTICED in \(Self.storms) storms"
            var isNoticed = false
            for number in 0..<Self.storms where !isNoticed {
                var broken = options
                broken.seed = options.seed &+ UInt64(number)
                breakage.apply(to: &broken)
                broken.keepAt = nil
                broken.tell = { _ in }
                let finding = try await FaultStorm.run(broken).finding
                isNoticed = breakage.isNoticed(by: finding)
                guard isNoticed else { continue }
                let rules = Dictionary(grouping: finding.violations, by: \.rule)
                    .sorted { $0.key.rawValue < $1.key.rawValue }
                words = rules.map { "\($0.value.count) x \($0.key.rawValue)" }.joined(separator: ", ")
                words = "noticed in storm \(number + 1), seed \(broken.seed): \(words)"
                for violation in finding.violations.prefix(3) { options.tell("  \(violation)") }
            }
            options.tell("\(breakage.words): \(words)")
            try write(FaultResult("\(breakage.words): \(words)", "yes or no", isNoticed ? 1 : 0, atLeast: 1))
            if !isNoticed { areAllNoticed = false }
        }
        return areAllNoticed
    }

    private func write(_ result: FaultResult) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        StandardStreams.writeOutput(String(decoding: try encoder.encode(result), as: UTF8.self) + "\n")
    }
}
