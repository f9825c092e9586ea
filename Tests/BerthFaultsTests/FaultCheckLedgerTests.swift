import BerthArchive
import BerthCore
import BerthFaults
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// What the check notices in ledgers and the archive, each beside the devices' logs: a farm that is in order, and one thing
/// wrong at a time.
struct FaultCheckLedgerTests {
    private static let build = Digest(bytes: SHA256.digest(of: [1]))

    /// A small farm of one device: what it noted, and what the ledger and the archive say.
    private struct Farm {
        var log: [Touch] = []
        var entries: [LedgerEntry] = []
        var disturbances: [Disturbance] = []
        let folder: TemporaryDirectory
        let blobs: BlobDirectory
        let evidence: EvidenceDirectory
        private let key: SigningKey

        init() throws {
            key = try SigningKey(privateBytes: [UInt8](repeating: 7, count: 32))
            folder = try TemporaryDirectory()
            blobs = try BlobDirectory(path: folder.path)
            evidence = EvidenceDirectory(beside: blobs)
        }

        /// Notes an attempt that goes well and is kept, from a moment in milliseconds on; it takes 80.
        mutating func attempt(_ number: Int, run: Int, at start: Int, isKept: Bool = true) {
            for (index, verb) in ["prepare", "install", "launch", "settle"].enumerated() {
                log.append(touch(number, run, start + index * 20, .begin, verb))
                log.append(touch(number, run, start + index * 20 + 10, .end, verb))
            }
            if isKept { log.append(touch(number, run, start + 75, .touch, "kept")) }
        }

        func touch(_ number: Int, _ run: Int, _ at: Int, _ event: Touch.Event, _ verb: String) -> Touch {
            Touch(
                at: Int64(at) * 1_000_000,
                wall: Int64(at),
                process: Int32(number),
                event: event,
                verb: verb,
                run: "r-\(run)",
                attempt: "a-\(number)",
                epoch: UInt64(number),
                decided: Int64(at) * 1_000_000
            )
        }

        /// Records an attempt's end, with its evidence in the archive when it decides.
        mutating func record(
            _ number: Int,
            run: Int,
            at moment: Int,
            _ outcome: Outcome = .passed,
            cause: String? = nil
        ) throws {
            var evidence: Digest?
            if outcome == .passed {
                let file = Array("steps of \(number)".utf8)
                let manifest = try CanonicalJSON.encode(
                    EvidenceManifest(
                        attempt: "a-\(number)",
                        epoch: UInt64(number),
                        files: [EvidenceFile(path: "steps.json", size: Int64(file.count), digest: Self.digest(file))]
                    )
                )
                let name = Self.digest(manifest)
                try self.evidence.store(EvidencePack(blobs: [name: manifest, Self.digest(file): file]), as: name)
                evidence = name
            }
            let last = try entries.last.map { Self.digest(try CanonicalJSON.encode($0)) }
            func entry(_ signature: AgentSignature?) -> LedgerEntry {
                LedgerEntry(
                    ledger: .hardware,
                    sequence: Int64(entries.count + 1),
                    previous: last ?? LedgerEntry.beginning,
                    recordedAt: Int64(moment),
                    batch: "b-1",
                    run: "r-\(run)",
                    attempt: "a-\(number)",
                    epoch: UInt64(number),
                    pins: Pins(
                        path: [FaultCheckLedgerTests.build, FaultCheckLedgerTests.build],
                        caseName: "fresh-install",
                        caseDigest: FaultCheckLedgerTests.build,
                        os: OSPin(version: "1.0", build: "1A1"),
                        platform: .standIn
                    ),
                    slot: "d",
                    host: "h",
                    device: nil,
                    agentVersion: nil,
                    tools: [:],
                    outcome: outcome,
                    cause: cause.map { OutcomeCause($0, "told by a test") },
                    checks: [],
                    evidence: evidence,
                    signature: signature,
                    deciding: outcome == .passed
                )
            }
            guard outcome == .passed else { return entries.append(entry(nil)) }
            let statement = try CanonicalJSON.encode(AttemptStatement(entry(nil)))
            entries.append(
                entry(
                    AgentSignature(
                        key: Hex.encode(key.publicBytes),
                        signature: Hex.encode(try key.sign(statement))
                    )
                )
            )
        }

        mutating func kill(at moment: Int) {
            let at = Int64(moment) * 1_000_000
            disturbances.append(Disturbance("kill", devices: ["d"], from: at, to: at + 1, isFatal: true))
        }

        func rules(submitted: Set<String> = ["r-1"]) throws -> Set<FaultCheck.Rule> {
            let check = FaultCheck(
                logs: ["d": log],
                ledgers: [.hardware: try entries.map { try CanonicalJSON.encode($0) }],
                submitted: submitted,
                disturbances: disturbances,
                lease: 3_000_000_000,
                archive: { try evidence.read($0, of: $1, limit: 1 << 20) }
            )
            return Set(check.judge().violations.map(\.rule))
        }

        private static func digest(_ bytes: [UInt8]) -> Digest { Digest(bytes: SHA256.digest(of: bytes)) }
    }

    /// One run that is decided by its first attempt.
    private static func sound() throws -> Farm {
        var farm = try Farm()
        farm.attempt(1, run: 1, at: 0)
        try farm.record(1, run: 1, at: 100)
        return farm
    }

    @Test func aFarmInOrderIsFoundInOrder() throws {
        var farm = try Self.sound()
        #expect(try farm.rules() == [])
        // A kill before the result was on disk explains that the run is run again.
        farm.attempt(2, run: 2, at: 200, isKept: false)
        farm.kill(at: 250)
        try farm.record(2, run: 2, at: 300, .errored, cause: "agent-died")
        farm.attempt(3, run: 2, at: 400)
        try farm.record(3, run: 2, at: 500)
        #expect(try farm.rules(submitted: ["r-1", "r-2"]) == [])
    }

    @Test func aRunWithoutAnEntryIsLost() throws {
        #expect(try Self.sound().rules(submitted: ["r-1", "r-9"]) == [.lostResult])
    }

    @Test(arguments: ["agent-died", "agent-forgot"])
    func aResultThatWasOnDiskIsForgottenWhateverWasKilled(_ cause: String) throws {
        var farm = try Farm()
        farm.attempt(1, run: 1, at: 0)
        farm.kill(at: 80)
        try farm.record(1, run: 1, at: 120, cause == "agent-died" ? .errored : .lost, cause: cause)
        farm.attempt(2, run: 1, at: 200)
        try farm.record(2, run: 1, at: 300)
        #expect(try farm.rules() == [.forgottenResult])
    }

    @Test func aKeptResultOfWhichNoLedgerTellsIsForgotten() throws {
        var farm = try Self.sound()
        farm.attempt(2, run: 2, at: 200)
        farm.kill(at: 250)
        #expect(try farm.rules().contains(.forgottenResult))
    }

    @Test func aResultThatCameAfterItsAttemptWasGivenUpIsNotForgotten() throws {
        var farm = try Farm()
        farm.attempt(1, run: 1, at: 0)
        farm.disturbances = [
            Disturbance("partition", devices: ["d"], from: 0, to: 3_000_000_000, isFatal: false)
        ]
        try farm.record(1, run: 1, at: 3000, .lost, cause: "lease-expired")
        farm.attempt(2, run: 1, at: 3100)
        try farm.record(2, run: 1, at: 3200)
        #expect(try farm.rules() == [])
    }

    @Test func aStepAfterTheEntryIsLate() throws {
        var farm = try Self.sound()
        farm.log.append(farm.touch(1, 1, 150, .touch, "look"))
        #expect(try farm.rules() == [.lateTouch])
        // To put the device away, and to note that a result is kept, is none.
        farm = try Self.sound()
        farm.log.append(farm.touch(1, 1, 150, .touch, "end"))
        farm.log.append(farm.touch(1, 1, 151, .touch, "kept"))
        #expect(try farm.rules() == [])
    }

    @Test func anEntryOfAnAttemptThatNoDeviceKnowsIsInvented() throws {
        var farm = try Self.sound()
        try farm.record(2, run: 2, at: 200)
        #expect(try farm.rules() == [.inventedResult])
    }

    @Test func aSecondVerdictAndAChangedEntryAreNoticed() throws {
        var farm = try Self.sound()
        farm.attempt(2, run: 1, at: 200)
        try farm.record(2, run: 1, at: 300)
        #expect(try farm.rules() == [.doubledResult])
        farm = try Self.sound()
        farm.attempt(2, run: 2, at: 200)
        try farm.record(2, run: 2, at: 300)
        farm.entries.remove(at: 0)
        #expect(try farm.rules(submitted: []).contains(.doubledResult))
    }

    @Test func evidenceIsAskedForInTheArchive() throws {
        let farm = try Self.sound()
        let manifest = try #require(farm.entries.first?.evidence)
        let path = farm.evidence.path(of: manifest)
        let whole = try DurableFile.read(path, limit: 1 << 20)
        // Every byte of the files counts: one of the first, which may be the manifest, and the last one.
        let start = try #require(whole.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for place in [start, whole.count - 1] {
            var damaged = whole
            damaged[place] ^= 1
            try DurableFile.replace(path, with: damaged)
            #expect(try farm.rules() == [.missingEvidence])
        }
        try DurableFile.replace(path, with: Array(whole.dropLast()))
        #expect(try farm.rules() == [.missingEvidence])
        try DurableFile.replace(path, with: whole)
        #expect(try farm.rules() == [])
        // A file that came too late for the pack, or was too long for it, lies among the blobs.
        let names = try EvidencePack.Head.parse(whole[..<(start - 1)], document: path).blobs.map(\.digest)
        let contents = try names.map { try farm.evidence.read($0, of: manifest, limit: 1 << 20) }
        unlink(path)
        #expect(try farm.rules() == [.missingEvidence])
        for bytes in contents {
            #expect(try farm.rules() == [.missingEvidence])
            try farm.blobs.insert(bytes)
        }
        #expect(try farm.rules() == [])
    }

    @Test func aLineThatIsKeptIsNoTouch() throws {
        // Under a lower epoch, within another's use: the agent notes it, and the device is not touched.
        var farm = try Self.sound()
        farm.log.append(farm.touch(2, 2, 200, .begin, "prepare"))
        farm.log.append(farm.touch(1, 1, 205, .touch, "kept"))
        farm.log.append(farm.touch(2, 2, 210, .end, "prepare"))
        farm.kill(at: 205)
        #expect(try farm.rules() == [])
    }
}
