/// What the probe wrote after a launch (docs/formats.md, status file). Untrusted input: bounded, parsed strictly.
package struct StatusFile: Sendable, Hashable, Codable {
    /// One operation with its OSStatus.
    package struct Step: Sendable, Hashable, Codable {
        package let what: String
        package let status: Int32
    }

    /// An item as the probe's own read found it.
    package struct Item: Sendable, Hashable, Codable {
        package enum Role: String, Sendable, Codable {
            case legacy
            case target
        }

        /// D1: not every failure is the same.
        package enum Read: String, Sendable, Codable {
            case found
            case missing
            case failed
        }

        /// Against the digest of the canary.
        package enum Content: String, Sendable, Codable {
            case matches
            case differs
            case unread
        }

        package let role: Role
        package let read: Read
        package let status: Int32
        package let content: Content
        package let contract: ItemContract
        package let created: Int64?
        package let modified: Int64?
        package let reference: Digest?
    }

    /// What the app's own migration claimed.
    package struct Migration: Sendable, Hashable, Codable {
        package enum Outcome: String, Sendable, Codable {
            case migrated
            case alreadyMigrated = "already-migrated"
            case nothingToMigrate = "nothing-to-migrate"
            case created
            case failed
        }

        package let outcome: Outcome
        package let wrote: Bool
        package let status: Int32?
        package let reason: String?
        package let markerBefore: Int?
        package let markerAfter: Int?
    }

    /// An earlier launch that the probe ended on purpose.
    package struct Interruption: Sendable, Hashable, Codable {
        package let launch: Int
        package let point: String
    }

    /// All items visible to the build, counted.
    package struct Census: Sendable, Hashable, Codable {
        package let ownSuffix: Int
        package let otherSuffixes: Int
        package let bystanders: Int
        package let bystandersDigest: Digest
    }

    /// What the bundle says about itself.
    package struct Build: Sendable, Hashable, Codable {
        package let bundleIdentifier: String
        package let version: String
        package let number: String
    }

    package enum Result: String, Sendable, Codable {
        case succeeded
        case failed
    }

    package let format: Int
    package let phase: LaunchPhase
    package let launch: Int
    package let nonce: String
    package let epoch: UInt64?
    package let epochMarker: UInt64?
    package let processIdentifier: Int32
    package let build: Build
    package let steps: [Step]
    package let items: [Item]
    package let migration: Migration?
    package let interrupted: Interruption?
    package let census: Census?
    package let censusAfter: Census?
    package let result: Result
    package let reason: String?

    /// The longest status file that is read, in bytes.
    package static let sizeLimit = 256 << 10

    /// Parses and checks the version.
    /// - Throws: `FormatError`
    package static func parse(_ bytes: [UInt8], name: String) throws(FormatError) -> StatusFile {
        let document = "status file \(name)"
        let file = try CanonicalJSON.decode(StatusFile.self, from: bytes, document: document)
        guard file.format == 1 else {
            throw FormatError(
                document: document,
                place: "format",
                problem: "version \(file.format) is not known here; 1 is"
            )
        }
        guard file.steps.count <= 1000, file.items.count <= 100 else {
            throw FormatError(document: document, problem: "it lists more than 1000 steps or 100 items")
        }
        return file
    }

    /// The item of a role, if the build reported one.
    package func item(_ role: Item.Role) -> Item? { items.first { $0.role == role } }
}
