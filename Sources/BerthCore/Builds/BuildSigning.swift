/// Who a build says it is and what it is entitled to; nothing of the signing material itself (S2).
package struct BuildSigning: Sendable, Hashable, Codable {
    /// The code directory's identifier; absent for unsigned builds and for builds of simulated devices.
    package let identifier: String?
    package let teamIdentifier: String?
    /// Where the entitlements stand: `section`, `signature` or `file`; absent without entitlements.
    package let source: String?
    /// `keychain-access-groups` in order, then the other groups whose items the build sees.
    package let accessGroups: [String]
    /// As an XML property list with sorted keys; absent without entitlements.
    package let entitlements: String?
    /// What a person should know, such as forms of the entitlements that differ.
    package let notes: [String]

    package init(
        identifier: String?,
        teamIdentifier: String?,
        source: String?,
        accessGroups: [String],
        entitlements: String?,
        notes: [String]
    ) {
        self.identifier = identifier
        self.teamIdentifier = teamIdentifier
        self.source = source
        self.accessGroups = accessGroups
        self.entitlements = entitlements
        self.notes = notes
    }
}
