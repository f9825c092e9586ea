import BerthCore
import BerthSystem

/// What a probe would have written after a launch in which all went well, for devices that run no app.
struct StandInStatus {
    private struct Item: Encodable {
        let role = "target"
        let read = "found"
        let status: Int32 = 0
        let content = "matches"
        let contract = ItemContract(
            itemClass: "genp",
            service: "stand-in",
            account: "stand-in",
            accessGroup: nil,
            accessible: nil
        )
    }

    private struct Census: Encodable {
        let ownSuffix: Int
        let otherSuffixes = 0
        let bystanders = 0
        let bystandersDigest = Digest(bytes: SHA256.digest(of: []))
    }

    private struct Build: Encodable {
        let bundleIdentifier: String
        let version: String
        let number: String
    }

    private struct File: Encodable {
        let format = 1
        let phase: LaunchPhase
        let launch: Int
        let nonce: String
        let processIdentifier: Int32 = 1
        let build: Build
        let steps: [String] = []
        let items: [Item]
        let census: Census
        let censusAfter: Census
        let result = "succeeded"
    }

    /// The file as it would lie on the device.
    let bytes: [UInt8]

    /// The file of a name, which says launch and phase; nil when it is no name of a status file.
    /// - Throws: `EncodingError`
    init?(_ name: String, nonce: String, build: AssignedBuild) throws {
        let parts = name.split(separator: ".")[0].split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let launch = Int(parts[0]), let phase = LaunchPhase(rawValue: String(parts[1])) else {
            return nil
        }
        let left = phase == .cleanup ? 0 : 1
        bytes = try CanonicalJSON.encode(
            File(
                phase: phase,
                launch: launch,
                nonce: nonce,
                build: Build(
                    bundleIdentifier: build.description.bundleIdentifier,
                    version: build.description.version,
                    number: build.description.number
                ),
                items: phase == .verify ? [Item()] : [],
                census: Census(ownSuffix: launch == 1 ? 0 : 1),
                censusAfter: Census(ownSuffix: left)
            )
        )
    }
}
