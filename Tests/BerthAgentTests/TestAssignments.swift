import BerthArchive
import BerthCore
import Foundation

/// Assignments for the device of a test's host.
enum TestAssignment {
    static let nonce = "5f1c0a9be2d34477a8c0d1e2f3a4b5c6"
    static let os = OSPin(version: "18.0", build: "22A1-berth")

    static func make(
        _ attempt: String,
        epoch: UInt64 = 1,
        case definition: CaseDefinition = BuiltInCases.update,
        builds: [TestBuild],
        os: OSPin = os,
        platform: Platform = .linuxSimulated,
        nonce: String = nonce,
        timeout: Int64 = 60_000
    ) throws -> Assignment {
        Assignment(
            run: "r-\(attempt)",
            attempt: attempt,
            epoch: epoch,
            nonce: nonce,
            pins: Pins(
                path: builds.map(\.assigned.id),
                caseName: definition.name,
                caseDigest: Digest.sha256(of: try CanonicalJSON.encode(definition)),
                os: os,
                platform: platform
            ),
            caseDefinition: definition,
            builds: builds.map(\.assigned),
            timeout: timeout
        )
    }
}
