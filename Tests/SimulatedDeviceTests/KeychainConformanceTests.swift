import Foundation
import Testing

@testable import SimulatedDevice

/// The list of facts about Apple's keychain, run against this one.
@Suite(.timeLimit(.minutes(5)))
struct KeychainConformanceTests {
    /// Rows that differ and why; a row that comes right must leave this list.
    private static let knownDifferences: [String: String] = [:]

    private static let list = PackageFiles.shared("cases/keychain-conformance.jsonl")

    @Test(
        "Every supported row about generic passwords is answered as Apple's keychain answers it",
        .enabled(if: FileManager.default.fileExists(atPath: list), "the conformance list is absent: \(list)")
    )
    func rows() throws {
        let text = try String(contentsOfFile: Self.list, encoding: .utf8)
        let all = text.split(separator: "\n").compactMap(ConformanceRow.init(line:))
        let concerned = all.filter(\.concernsGenericPasswords)
        let supported = concerned.filter(\.isSupported)
        var differences: [String: String] = [:]
        let folder = try TemporaryFolder()
        for row in supported {
            var run = try ConformanceRun(database: "\(folder.path)/\(row.id).db")
            if let difference = run.difference(row) { differences[row.id] = "\(row.title): \(difference)" }
        }
        print(
            "Conformance: \(supported.count - differences.count) rows as expected, \(differences.count) different, "
                + "\(concerned.count - supported.count) of unsupported features, "
                + "\(all.count - concerned.count) about other classes"
        )
        for (id, difference) in differences.sorted(by: { $0.key < $1.key }) { print("\(id): \(difference)") }
        #expect(Set(differences.keys) == Set(Self.knownDifferences.keys))
        // An emptied or renamed list would otherwise pass.
        #expect(supported.count >= 90)
    }
}
