import BerthCore
import BerthSystem

#if canImport(YAMLReader)
    import YAMLReader
#endif

/// A plan file as it was read, and the way back from what the coordinator says to its lines.
struct PlanFile: Sendable {
    let path: String
    let document: PlanDocument

    /// - Throws: `CommandFailure` with a line for each problem, `SystemError` when the file cannot be read.
    init(path: String) throws {
        self.path = path
        let bytes = try DurableFile.read(path, limit: 1 << 20)
        do {
            document = try Self.parse(bytes)
        } catch let problems as DocumentProblems {
            throw Self.failure(path, problems.problems)
        } catch let problem as DocumentProblem {
            throw Self.failure(path, [problem])
        }
    }

    /// Calls the coordinator; what it finds wrong with the plan is told by line and column.
    func locating<Value>(_ call: () async throws -> Value) async throws -> Value {
        do {
            return try await call()
        } catch let failure as CommandFailure where !failure.problems.isEmpty {
            throw self.failure(failure.problems)
        }
    }

    /// Problems that the coordinator found.
    func failure(_ problems: [PlanProblem]) -> CommandFailure {
        Self.failure(path, DocumentProblems(problems.map(document.locate)).problems)
    }

    private static func failure(_ path: String, _ problems: [DocumentProblem]) -> CommandFailure {
        let lines = problems.map { "\(path):\($0.position): \($0.message)" }
        return CommandFailure(.badInput, "the plan cannot be used\n\(lines.joined(separator: "\n"))")
    }

    private static func parse(_ bytes: [UInt8]) throws -> PlanDocument {
        #if canImport(YAMLReader)
            guard let root = try YAMLReader.read(bytes) else {
                throw DocumentProblem(.init(line: 1, column: 1), "the file is empty; a plan begins with `format: 1`")
            }
            return try PlanDocument(root)
        #else
            throw CommandFailure(.failure, "plan files are read on Linux only; use submit with --old, --new and --case")
        #endif
    }
}
