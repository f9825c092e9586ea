import BerthCore
import BerthSystem

// Whether results and their evidence are still where they were.
extension FaultCheck {
    /// A result that is on its agent's disk outlives the agent: the coordinator hears of it, unless it had given the attempt
    /// up before. No kill explains that it does not.
    /// - Parameters:
    ///   - entries: all ledger entries.
    ///   - spans: the attempts as their devices saw them.
    ///   - finding: gets what is wrong.
    func judgeKept(_ entries: [LedgerEntry], _ spans: [String: Span], _ finding: inout Finding) {
        let ends = Dictionary(entries.map { ($0.attempt, $0) }, uniquingKeysWith: { first, _ in first })
        for span in spans.values.sorted(by: { $0.attempt < $1.attempt }) where span.isKept {
            finding.kept += 1
            let end = ends[span.attempt]
            // Said by an agent that knows nothing of it any more, or by nobody.
            guard end == nil || end?.cause?.code == "agent-died" || end?.cause?.code == "agent-forgot" else { continue }
            finding.violations.append(
                Violation(
                    rule: .forgottenResult,
                    words: "\(span.attempt) of \(span.run) was kept on \(span.device), the ledger says "
                        + (end.map { "\($0.outcome.rawValue) (\($0.cause?.code ?? "no cause"))" } ?? "nothing")
                )
            )
        }
    }

    /// Each deciding entry's manifest and the files that it names have to be in the archive as they were.
    /// - Parameters:
    ///   - entries: all ledger entries.
    ///   - finding: gets what is wrong.
    func judgeEvidence(_ entries: [LedgerEntry], _ finding: inout Finding) {
        guard let archive else { return }
        var states: [Digest: String?] = [:]
        func problem(_ digest: Digest, _ bytes: [UInt8]?) -> String? {
            guard let bytes else { return "\(digest) is not in the archive" }
            let actual = Digest(bytes: SHA256.digest(of: bytes))
            return actual == digest ? nil : "\(digest) has other bytes, of \(actual)"
        }
        func look(_ entry: LedgerEntry) -> String? {
            guard let digest = entry.evidence else { return "it names none" }
            let bytes = archive(digest)
            if let problem = problem(digest, bytes) { return "the manifest \(problem)" }
            guard let bytes,
                let manifest = try? CanonicalJSON.decode(EvidenceManifest.self, from: bytes, document: "manifest")
            else { return "the manifest \(digest) cannot be read" }
            guard manifest.attempt == entry.attempt, manifest.epoch == entry.epoch else {
                return "the manifest is that of \(manifest.attempt), epoch \(manifest.epoch)"
            }
            for file in manifest.files {
                // Many attempts leave the same files.
                let known = states[file.digest] ?? problem(file.digest, archive(file.digest))
                states[file.digest] = .some(known)
                finding.blobs += 1
                if let known { return "\(file.path): \(known)" }
            }
            return nil
        }
        for entry in entries where entry.deciding {
            guard let problem = look(entry) else { continue }
            finding.violations.append(
                Violation(rule: .missingEvidence, words: "of \(entry.attempt) of \(entry.run): \(problem)")
            )
        }
    }
}
