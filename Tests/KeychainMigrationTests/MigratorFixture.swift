import Foundation
import Security

@testable import KeychainMigration

/// A keychain, a marker and a migrator between two forms of a token.
final class MigratorFixture {
    static let token = Data("old-token".utf8)

    let keychain: StandInKeychain
    var legacy = KeychainItemContract(service: "old", account: "user", accessible: .whenUnlocked)
    var target = KeychainItemContract(service: "new", account: "token", accessible: .afterFirstUnlock)
    var markerVersion: Int?
    private(set) var markerWrites = 0
    var isWellFormed: (Data) -> Bool = { _ in true }

    init(groups: [String] = ["TEAM.app"]) {
        keychain = StandInKeychain(groups: groups)
    }

    var marker: KeychainSchemaMarker {
        KeychainSchemaMarker(
            load: { self.markerVersion },
            store: {
                self.markerVersion = $0
                self.markerWrites += 1
            }
        )
    }

    /// Stores an item as a build would, before the test looks at calls.
    func plant(_ contract: KeychainItemContract, _ data: Data = token) {
        _ = keychain.access.add(contract.addQuery(data))
        keychain.forgetCalls()
    }

    func migrate() -> KeychainMigrationClaim {
        KeychainMigrator(
            legacy: legacy,
            target: target,
            schemaVersion: 2,
            marker: marker,
            isWellFormed: isWellFormed,
            keychain: keychain.access
        ).migrate()
    }

    func log() -> [String] { keychain.calls.map(\.description) }
}
