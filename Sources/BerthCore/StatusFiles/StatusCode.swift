/// An OSStatus with its name and with what it usually means for a migration: the one table for all that people read.
package struct StatusCode: Sendable, Hashable, CustomStringConvertible {
    /// What a code says about a query (D1: not found, missing rights and bad parameters stay apart).
    package enum Family: String, Sendable, Hashable, Codable {
        case success
        case notFound = "not found"
        case missingRights = "missing rights"
        case badParameters = "bad parameters"
        case duplicate
        case locked
        case unavailable
        case damaged
        case unknown
    }

    private struct Entry: Sendable {
        let name: String
        let words: String
        let family: Family
        let meaning: String

        init(_ name: String, _ words: String, _ family: Family, _ meaning: String) {
            self.name = name
            self.words = words
            self.family = family
            self.meaning = meaning
        }
    }

    package let code: Int32

    package init(_ code: Int32) {
        self.code = code
    }

    /// `-25300 errSecItemNotFound (item not found)`; a code that is not in the table stays a number.
    package var description: String {
        guard let entry = Self.table[code] else { return "\(code)" }
        return "\(code) \(entry.name) (\(entry.words))"
    }

    /// `errSecItemNotFound`; nil for a code that is not in the table.
    package var name: String? { Self.table[code]?.name }

    package var family: Family { Self.table[code]?.family ?? .unknown }

    /// What it usually means for a migration; nil for success and for a code that is not in the table.
    package var meaning: String? {
        guard let entry = Self.table[code], !entry.meaning.isEmpty else { return nil }
        return entry.meaning
    }

    /// Every code that has a name here.
    package static var known: [StatusCode] { table.keys.sorted().map(StatusCode.init) }

    private static let table: [Int32: Entry] = [
        0: Entry("errSecSuccess", "success", .success, ""),
        -25300: Entry(
            "errSecItemNotFound",
            "item not found",
            .notFound,
            "nothing matches the query: class, service, account, access group or accessibility differ from what was "
                + "written, or the item lies in a group that this build cannot see"
        ),
        -34018: Entry(
            "errSecMissingEntitlement",
            "missing entitlement",
            .missingRights,
            "the build has no access group, or names one that its entitlements do not list: compare the entitlements"
        ),
        -25243: Entry(
            "errSecNoAccessForItem",
            "no access for item",
            .missingRights,
            "an older system's answer to a write into a foreign access group: compare the entitlements"
        ),
        -34020: Entry(
            "errSecRestrictedAPI",
            "client is restricted",
            .missingRights,
            "the caller, such as an app clip, may not do this at all"
        ),
        -50: Entry(
            "errSecParam",
            "bad parameters",
            .badParameters,
            "the query itself is wrong: a missing class, a value of a wrong type, or keys that exclude each other"
        ),
        -25303: Entry(
            "errSecNoSuchAttr",
            "no such attribute",
            .badParameters,
            "the query names an attribute that the item's class does not have"
        ),
        -25306: Entry("errSecNoSuchClass", "no such class", .badParameters, "the query's class is none that there is"),
        -25304: Entry(
            "errSecInvalidItemRef",
            "invalid item reference",
            .badParameters,
            "a reference that was kept from before leads nowhere: the item was replaced or deleted"
        ),
        -909: Entry("errSecBadReq", "bad request", .badParameters, "the call makes no sense in this state"),
        -4: Entry(
            "errSecUnimplemented",
            "not implemented",
            .badParameters,
            "the query asks for a match that its class does not offer"
        ),
        -25299: Entry(
            "errSecDuplicateItem",
            "duplicate item",
            .duplicate,
            "an item with the same service, account and access group is there already: update it, or find out who wrote it"
        ),
        -25308: Entry(
            "errSecInteractionNotAllowed",
            "interaction not allowed",
            .locked,
            "the item is protected while the device is locked: the accessibility is too strict for when the app reads"
        ),
        -25293: Entry(
            "errSecAuthFailed",
            "authentication failed",
            .locked,
            "the item's access control asked for a passcode or biometrics and did not get it"
        ),
        -128: Entry("errSecUserCanceled", "user cancelled", .locked, "a person refused the item's access control"),
        -25291: Entry(
            "errSecNotAvailable",
            "keychain not available",
            .unavailable,
            "the keychain did not answer: keep the old item and try again, it says nothing about the data"
        ),
        -34019: Entry("errSecUpgradePending", "upgrade pending", .unavailable, "the keychain is still being upgraded"),
        -25292: Entry("errSecReadOnly", "read-only", .unavailable, "the keychain takes no writes"),
        -25294: Entry("errSecNoSuchKeychain", "no such keychain", .unavailable, "there is no such keychain"),
        -25295: Entry("errSecInvalidKeychain", "invalid keychain", .unavailable, "the keychain's file is damaged"),
        -25307: Entry("errSecNoDefaultKeychain", "no default keychain", .unavailable, "there is no keychain to search"),
        -2070: Entry("errSecInternalComponent", "internal component failed", .unavailable, "the system failed inside"),
        -26276: Entry("errSecInternal", "internal error", .unavailable, "the system failed inside"),
        -34: Entry("errSecDiskFull", "disk full", .unavailable, "the write found no room: the old item must stay"),
        -36: Entry("errSecIO", "I/O error", .unavailable, "the keychain's storage failed: the old item must stay"),
        -61: Entry("errSecWrPerm", "no write permission", .unavailable, "the keychain's storage takes no writes"),
        -108: Entry("errSecAllocate", "out of memory", .unavailable, "there was not enough memory"),
        -26275: Entry(
            "errSecDecode",
            "cannot be decoded",
            .damaged,
            "the stored item cannot be decoded: keep it and report it, a new one would hide the damage"
        ),
        -25301: Entry("errSecBufferTooSmall", "buffer too small", .damaged, "the item's content did not fit"),
        -25302: Entry("errSecDataTooLarge", "data too large", .damaged, "the item's content is too large"),
    ]
}
