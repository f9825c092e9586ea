import BerthSystem
import Foundation

/// A simulated OS: a folder with its version, the versions of its keychain, and the Swift libraries of its apps.
package struct Runtime: Hashable, Sendable {
    /// What `profile.plist` in the folder says.
    struct Profile: Codable, Hashable, Sendable {
        let identifier: String
        let name: String
        let version: String
        let buildversion: String
        /// Version of the messages between apps and the keychain service.
        let keychainProtocolVersion: Int
        /// Version of the keychain's database.
        let keychainDatabaseVersion: Int

        static let standard = Profile(
            identifier: "org.berth.SimRuntime.iOS-18-0",
            name: "iOS 18.0",
            version: "18.0",
            buildversion: "22A1-berth",
            keychainProtocolVersion: KeychainMessage.version,
            keychainDatabaseVersion: Int(KeychainDatabase.version)
        )
    }

    /// The runtime's folder.
    package let path: String
    private let profile: Profile

    package var identifier: String { profile.identifier }
    package var name: String { profile.name }
    package var version: String { profile.version }
    package var build: String { profile.buildversion }
    package var root: String { "\(path)/RuntimeRoot" }
    /// Where the apps' Swift libraries lie.
    package var libraries: String { "\(root)/usr/lib/swift" }

    init(path: String) throws {
        let bytes = try DurableFile.read("\(path)/profile.plist", limit: 1 << 20)
        profile = try PropertyListDecoder().decode(Profile.self, from: Data(bytes))
        self.path = path
    }

    /// Refuses a runtime whose keychain this program does not have.
    ///
    /// - Throws: `SimulatorError`
    func checkKeychain() throws {
        guard
            profile.keychainProtocolVersion == KeychainMessage.version,
            profile.keychainDatabaseVersion == Int(KeychainDatabase.version)
        else {
            throw SimulatorError.hostFailure(
                "The runtime \(path) asks for keychain protocol \(profile.keychainProtocolVersion) and database "
                    + "\(profile.keychainDatabaseVersion); this berth-sim has \(KeychainMessage.version) and "
                    + "\(KeychainDatabase.version)."
            )
        }
    }
}
