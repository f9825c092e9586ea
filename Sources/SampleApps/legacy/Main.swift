import Foundation
import KeychainMigration
import SampleAppSupport
import Security

/// Version 1.0: keeps its token under service `com.example.product`, account `user`.
///
/// It knows nothing of later forms. The probe was linked into the tag of this version; the app's code is as it shipped.
@main struct Main {
    static let token = KeychainItemContract(
        service: "com.example.product",
        account: "user",
        accessGroup: "EXAMPLE42.com.example.product",
        accessible: .whenUnlocked
    )

    static func main() {
        AppLife.begin()
        #if BERTH_PROBE
            let probe = KeychainProbe(
                configuration: KeychainProbeConfiguration(
                    legacy: token,
                    target: nil,
                    schemaVersion: 1,
                    seed: { store(in: $0, value: $1) },
                    migrate: nil,
                    create: { store(in: $0, value: $1) }
                ),
                isEnabled: true
            )
            if let outcome = probe.run() {
                if let code = outcome.exitCode { exit(code) }
                AppLife.waitForEnd()
            }
        #endif
        AppLife.announce(KeychainItemStore().read(token))
        AppLife.waitForEnd()
    }

    /// What the app does when a user has signed in.
    static func store(in contract: KeychainItemContract, value: Data) -> OSStatus {
        KeychainItemStore().add(value, as: contract)
    }
}
