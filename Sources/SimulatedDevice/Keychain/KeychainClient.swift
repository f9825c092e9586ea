import Foundation

/// An app as the keychain sees it: its entitlements.
package struct KeychainClient: Hashable, Sendable {
    /// The group of token items, which may be read and never written.
    static let tokenGroup = "com.apple.token"

    /// The groups that the app may name and that a query without a group searches, the default group first.
    package let accessGroups: [String]

    /// Groups that the app may write.
    var writableGroups: [String] { accessGroups.filter { $0 != Self.tokenGroup } }

    package init(accessGroups: [String]) {
        let tokens = accessGroups.filter { $0 == Self.tokenGroup }
        self.accessGroups = accessGroups.filter { $0 != Self.tokenGroup } + tokens
    }

    /// Reads the groups from entitlements. An entitlement of the wrong shape counts as absent.
    package init(entitlements: [String: Any]) {
        var groups: [String] = []
        groups += Self.strings(entitlements["keychain-access-groups"])
        groups += Self.strings(entitlements["com.apple.developer.associated-application-identifier"])
        let identifier =
            entitlements["application-identifier"] as? String
            ?? entitlements["com.apple.application-identifier"] as? String
        if let identifier { groups.append(identifier) }
        groups += Self.strings(entitlements["com.apple.security.application-groups"])
        self.init(accessGroups: groups)
    }

    private static func strings(_ value: Any?) -> [String] {
        value as? [String] ?? []
    }
}
