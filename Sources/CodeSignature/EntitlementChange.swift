/// One thing that a new build's entitlements change, and what it means for the old build's items (S1).
package struct EntitlementChange: Sendable, Hashable, Codable {
    package enum Kind: String, Sendable, Hashable, Codable {
        case groupRemoved = "group-removed"
        case groupAdded = "group-added"
        case prefixChanged = "prefix-changed"
        case orderChanged = "order-changed"
        case applicationIdentifierChanged = "application-identifier-changed"
        case applicationGroupsChanged = "application-groups-changed"
        case teamChanged = "team-changed"
        case debuggingChanged = "debugging-changed"
        case entitlementAdded = "entitlement-added"
        case entitlementRemoved = "entitlement-removed"
        case entitlementChanged = "entitlement-changed"
        case entitlementsMissing = "entitlements-missing"
    }

    /// `S1`, the rule that asks for the comparison.
    package let rule: String
    package let kind: Kind
    /// The entitlement that changed.
    package let key: String
    package let old: String?
    package let new: String?
    /// What changed and what follows from it, in a sentence.
    package let meaning: String
    /// Whether it can hide an item of the old build from the new one.
    package let hidesItems: Bool

    package init(
        _ kind: Kind,
        key: String,
        old: String? = nil,
        new: String? = nil,
        hidesItems: Bool = false,
        _ meaning: String
    ) {
        rule = "S1"
        self.kind = kind
        self.key = key
        self.old = old
        self.new = new
        self.meaning = meaning
        self.hidesItems = hidesItems
    }
}
