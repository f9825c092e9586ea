/// The fixed inputs of a run (P1), stored with its result.
package struct Pins: Sendable, Hashable, Codable {
    /// Build IDs in order; the first is the old build, the last the new one. A case that needs no old build still
    /// pins the whole path.
    package let path: [Digest]
    package let caseName: String
    package let caseDigest: Digest
    package let os: OSPin
    package let platform: Platform

    package init(path: [Digest], caseName: String, caseDigest: Digest, os: OSPin, platform: Platform) {
        self.path = path
        self.caseName = caseName
        self.caseDigest = caseDigest
        self.os = os
        self.platform = platform
    }

    package var kind: DeviceKind { platform.kind }
}
