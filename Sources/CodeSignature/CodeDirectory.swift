/// Who a signature says that the code is.
package struct CodeDirectory: Sendable, Hashable {
    /// Longest identifier or team ID, in bytes.
    private static let nameLimit = 1024

    /// As a rule the bundle ID.
    package let identifier: String
    /// Ten letters and digits; nil when no team signed it.
    package let teamIdentifier: String?
    /// Signed by nobody: only hashes.
    package let isAdHoc: Bool

    init(_ blob: ByteWindow) throws {
        let version = try blob.big(UInt32.self, at: 8, "the code directory's version")
        isAdHoc = try blob.big(UInt32.self, at: 12, "the code directory's flags") & 0x2 != 0
        let place = try blob.big(UInt32.self, at: 20, "the identifier's offset")
        identifier = try blob.terminatedText(at: Int(place), limit: Self.nameLimit, "the identifier")
        guard version >= 0x20200 else {
            teamIdentifier = nil
            return
        }
        let team = try blob.big(UInt32.self, at: 48, "the team ID's offset")
        teamIdentifier =
            team == 0 ? nil : try blob.terminatedText(at: Int(team), limit: Self.nameLimit, "the team ID")
    }
}
