import Foundation

/// What the probe writes for the farm: states, OSStatus numbers and digests, never a value (B5, D2).
///
/// The format's page is `docs/formats.md`. No field takes free text from the app, so none can carry a value.
public struct StatusFile: Encodable, Sendable {
    /// The version of the format.
    public static let format = 1

    /// The version of the format that this file is written in.
    public var format = StatusFile.format
    /// What the launch was for: `seed`, `verify`, `prepare`, `census` or `cleanup`.
    public var phase: String
    /// The number of the probe's launch in this data container, from 1.
    public var launch: Int
    /// The attempt's nonce, 32 hexadecimal digits.
    public var nonce: String
    /// The attempt's epoch, if the launch was given one.
    public var epoch: Int?
    /// The epoch that an earlier launch left in the data container.
    public var epochMarker: Int?
    /// The process that wrote this.
    public var processIdentifier: Int32
    /// What the bundle says about itself.
    public var build: Build
    /// The version of the migration that the build knows (C3).
    public var schemaVersion: Int
    /// Every operation, in order.
    public var steps: [Step] = []
    /// Every item that the build knows, as the probe's own read found it.
    public var items: [Item] = []
    /// What the app's own migration claimed.
    public var migration: Migration?
    /// An earlier launch that the probe ended on purpose and that left no status file.
    public var interrupted: Interruption?
    /// What was visible before any code of the app ran; absent if that could not be listed.
    public var census: Census?
    /// What was visible when the phase was through.
    public var censusAfter: Census?
    /// `succeeded` when the phase reached its purpose, `failed` otherwise.
    public var result: Result = .succeeded
    /// Why it failed, in the probe's own words.
    public var reason: String?

    /// Whether the phase reached its purpose.
    public enum Result: String, Encodable, Sendable {
        case succeeded, failed
    }

    /// A build's own account of itself; empty where the bundle says nothing.
    public struct Build: Encodable, Equatable, Sendable {
        public var bundleIdentifier: String
        public var version: String
        public var number: String
    }

    /// An operation with the OSStatus that it returned.
    public struct Step: Encodable, Equatable, Sendable {
        /// The operation's name, such as `census` or `migrate-add-target`.
        public var what: String
        /// 0 is success.
        public var status: Int32
    }

    /// An item that the build knows.
    public struct Item: Encodable, Equatable, Sendable {
        /// Which form of the item this is.
        public enum Role: String, Encodable, Sendable {
            case legacy, target
        }

        /// What a read found (D1).
        public enum Read: String, Encodable, Sendable {
            case found, missing, failed
        }

        /// How the content compares with the expected digest.
        public enum Content: String, Encodable, Sendable {
            case matches, differs, unread
        }

        public var role: Role
        public var read: Read
        /// The OSStatus of the read.
        public var status: Int32
        public var content: Content
        /// The five fields, as read back when found and as queried otherwise.
        public var contract: Contract
        /// Milliseconds since 1970.
        public var created: Int64?
        /// Milliseconds since 1970.
        public var modified: Int64?
        /// The digest of the item's persistent reference.
        public var reference: String?
    }

    /// The five fields of an item (C1).
    public struct Contract: Encodable, Equatable, Sendable {
        public var itemClass: String
        public var service: String
        public var account: String
        public var accessGroup: String?
        public var accessible: String
    }

    /// The claim of the app's migration, with the marker around it.
    public struct Migration: Encodable, Equatable, Sendable {
        public var outcome: String
        public var wrote: Bool
        /// The OSStatus that stopped it, when it failed.
        public var status: Int32?
        /// What stopped it, when it failed.
        public var reason: String?
        public var markerBefore: Int?
        public var markerAfter: Int?
    }

    /// A launch that the probe ended at a point of the migration.
    public struct Interruption: Encodable, Equatable, Sendable {
        public var launch: Int
        public var point: String
    }

    /// All items visible to the build, sorted into this attempt's, other attempts' and bystanders.
    public struct Census: Encodable, Equatable, Sendable {
        public var ownSuffix: Int
        public var otherSuffixes: Int
        public var bystanders: Int
        public var bystandersDigest: String
    }

    /// The bytes of the file: JSON with sorted keys.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
