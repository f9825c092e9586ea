import Foundation
import Security

@testable import KeychainMigration

/// A probe with a data container of its own, above the stand-in keychain. Both survive the launches of a test.
final class ProbeFixture {
    static let nonce = "5f1c0a9be2d34477a8c0d1e2f3a4b5c6"
    static let suffix = "-5f1c0a9be2d34477"

    let keychain = StandInKeychain()
    let documents: URL
    var markerVersion: Int?
    private(set) var complaints: [String] = []
    /// Replaces the migration of the build.
    var migration: ((KeychainItemContract, KeychainItemContract) -> KeychainMigrationClaim)?
    var delete: ((KeychainItemContract) -> OSStatus)?

    let legacy = KeychainItemContract(service: "old", account: "user", accessible: .whenUnlocked)
    let target = KeychainItemContract(service: "new", account: "token", accessible: .afterFirstUnlock)

    init() throws {
        documents = FileManager.default.temporaryDirectory.appendingPathComponent("probe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: documents)
    }

    var folder: URL { documents.appendingPathComponent("berth") }
    var canary: Data { ProbeNonce(Self.nonce)?.canary ?? Data() }

    /// Launches the legacy or the new build with the given arguments.
    func launch(_ arguments: [String], isLegacy: Bool = false, isEnabled: Bool = true) -> ProbeOutcome? {
        let marker = KeychainSchemaMarker(load: { self.markerVersion }, store: { self.markerVersion = $0 })
        let keychain = keychain.access
        let store = KeychainItemStore(keychain: keychain)
        let migration =
            migration ?? { legacy, target in
                KeychainMigrator(
                    legacy: legacy,
                    target: target,
                    schemaVersion: 2,
                    marker: marker,
                    isWellFormed: { _ in true },
                    keychain: keychain
                ).migrate()
            }
        return KeychainProbe(
            configuration: KeychainProbeConfiguration(
                legacy: legacy,
                target: isLegacy ? nil : target,
                schemaVersion: isLegacy ? 1 : 2,
                seed: { store.add($1, as: $0) },
                migrate: isLegacy ? nil : migration,
                create: { store.add($1, as: $0) },
                delete: { self.delete?($0) ?? store.delete($0) }
            ),
            isEnabled: isEnabled,
            environment: ProbeEnvironment(
                keychain: keychain,
                documents: documents,
                build: .init(bundleIdentifier: "com.example.product", version: "2.0", number: "20"),
                marker: marker,
                complain: { self.complaints.append($0) }
            )
        ).run(arguments: arguments)
    }

    /// Launches and reads the status file that the launch must have written.
    func status(_ arguments: [String], isLegacy: Bool = false) throws -> ParsedStatus {
        guard let file = launch(arguments, isLegacy: isLegacy)?.statusFile else { throw NoStatusFile() }
        return try ParsedStatus(file)
    }

    /// The status files in the container, by name.
    func statusFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }.sorted()
    }

    struct NoStatusFile: Error {}
}

/// A status file as any reader of JSON sees it.
struct ParsedStatus: Decodable {
    struct Item: Decodable {
        struct Contract: Decodable {
            var service: String
            var account: String
            var accessGroup: String?
            var accessible: String
        }
        var role: String
        var read: String
        var status: Int
        var content: String
        var contract: Contract
        var modified: Int?
        var reference: String?
    }
    struct Build: Decodable {
        var bundleIdentifier: String
        var version: String
        var number: String
    }
    struct Step: Decodable, Equatable {
        var what: String
        var status: Int
    }
    struct Migration: Decodable {
        var outcome: String
        var wrote: Bool
        var status: Int?
        var markerBefore: Int?
        var markerAfter: Int?
    }
    struct Census: Decodable {
        var ownSuffix: Int
        var otherSuffixes: Int
        var bystanders: Int
        var bystandersDigest: String
    }
    var phase: String
    var launch: Int
    var nonce: String
    var epoch: Int?
    var epochMarker: Int?
    var build: Build
    var steps: [Step]
    var items: [Item]
    var migration: Migration?
    var census: Census?
    var censusAfter: Census?
    var result: String
    var reason: String?

    init(_ file: URL) throws {
        self = try JSONDecoder().decode(ParsedStatus.self, from: Data(contentsOf: file))
    }

    func item(_ role: String) -> Item? { items.first { $0.role == role } }
}
