import BerthCore

/// Values with sensible defaults.
enum Fixtures {
    static let nonce = "5f1c0a9be2d34477a8c0d1e2f3a4b5c6"
    static let digest = Digest(bytes: [UInt8](repeating: 7, count: 32))
    static let os = OSPin(version: "18.0", build: "22A1")
    static let continuity = ContinuityFacts(bootID: "boot", dataContainer: "data", os: os)

    static func build(_ byte: UInt8) -> Digest { Digest(bytes: [UInt8](repeating: byte, count: 32)) }

    static func assignment() -> Assignment {
        Assignment(
            run: "r-1",
            attempt: "a-1",
            epoch: 7,
            nonce: nonce,
            pins: pins(),
            caseDefinition: BuiltInCases.restart,
            builds: [],
            timeout: 1000
        )
    }

    static func pins(new: UInt8 = 2, caseName: String = "update", platform: Platform = .linuxSimulated) -> Pins {
        Pins(path: [build(1), build(new)], caseName: caseName, caseDigest: digest, os: os, platform: platform)
    }

    static func item(
        _ role: StatusFile.Item.Role,
        _ read: StatusFile.Item.Read = .found,
        content: StatusFile.Item.Content = .matches,
        modified: Int64? = 10
    ) -> String {
        """
        {"role":"\(role.rawValue)","read":"\(read.rawValue)","status":\(read == .found ? 0 : -25300),
         "content":"\(read == .found ? content.rawValue : "unread")",
         "contract":{"itemClass":"genp","service":"s","account":"a"},"created":10,"modified":\(modified ?? 0)}
        """
    }

    static func status(
        _ phase: LaunchPhase,
        launch: Int,
        nonce: String = nonce,
        marker: UInt64? = 7,
        items: [String],
        migration: String? = nil,
        ownSuffix: Int = 0,
        otherSuffixes: Int = 0,
        result: String = "succeeded",
        after: (own: Int, bystanders: Int)? = nil,
        bystanders: Int = 0,
        interrupted: String? = nil
    ) throws -> LaunchObservation {
        func census(_ own: Int, _ bystanders: Int) -> String {
            #"{"ownSuffix":\#(own),"otherSuffixes":\#(otherSuffixes),"bystanders":\#(bystanders),"bystandersDigest":"\#(digest)"}"#
        }
        let text = """
            {"format":1,"phase":"\(phase.rawValue)","launch":\(launch),"nonce":"\(nonce)","epoch":7,
             \(marker.map { "\"epochMarker\":\($0)," } ?? "")
             "processIdentifier":1,"build":{"bundleIdentifier":"b","version":"1","number":"1"},"steps":[],
             "items":[\(items.joined(separator: ","))],
             \(migration.map { "\"migration\":\($0)," } ?? "")
             \(after.map { "\"censusAfter\":\(census($0.own, $0.bystanders))," } ?? "")
             \(interrupted.map { "\"interrupted\":\($0)," } ?? "")
             "census":\(census(ownSuffix, bystanders)),"result":"\(result)"}
            """
        return .status(try StatusFile.parse(Array(text.utf8), name: "fixture"))
    }

    static func entry(
        sequence: Int64,
        new: UInt8 = 2,
        caseName: String = "update",
        platform: Platform = .linuxSimulated,
        outcome: Outcome,
        deciding: Bool = true,
        previous: Digest = LedgerEntry.beginning,
        attempt: String? = nil,
        purpose: String? = nil
    ) -> LedgerEntry {
        LedgerEntry(
            ledger: platform.kind,
            sequence: sequence,
            previous: previous,
            recordedAt: 1,
            batch: "b-1",
            run: "r-\(sequence)",
            attempt: attempt ?? "a-\(sequence)",
            epoch: 1,
            pins: pins(new: new, caseName: caseName, platform: platform),
            slot: "s",
            host: "h",
            device: nil,
            agentVersion: nil,
            tools: [:],
            outcome: outcome,
            cause: outcome == .passed ? nil : OutcomeCause("G1-broken", "unreadable"),
            checks: [CheckResult(id: .readable, state: outcome == .passed ? .held : .broken)],
            evidence: nil,
            deciding: deciding,
            purpose: purpose
        )
    }
}
