import BerthCore
import BerthSystem

// Whether results and their evidence are still where they were.
extension FaultCheck {
    /// What is wrong with an entry's evidence.
    private struct Missing: Error, CustomStringConvertible {
        let words: String
        var description: String { words }
    }

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
        func read(_ file: Digest, _ manifest: Digest) throws -> [UInt8] {
            let bytes = try archive(file, manifest)
            let actual = Digest(bytes: SHA256.digest(of: bytes))
            guard actual == file else { throw Missing(words: "\(file) has other bytes, of \(actual)") }
            return bytes
        }
        func look(_ entry: LedgerEntry) throws {
            guard let digest = entry.evidence else { throw Missing(words: "it names none") }
            let manifest = try CanonicalJSON.decode(
                EvidenceManifest.self,
                from: try read(digest, digest),
                document: "the manifest \(digest)"
            )
            guard manifest.attempt == entry.attempt, manifest.epoch == entry.epoch else {
                throw Missing(words: "the manifest is that of \(manifest.attempt), epoch \(manifest.epoch)")
            }
            for file in manifest.files {
                finding.blobs += 1
                do {
                    _ = try read(file.digest, digest)
                } catch {
                    throw Missing(words: "\(file.path): \(error)")
                }
            }
        }
        for entry in entries where entry.deciding {
            do {
                try look(entry)
            } catch {
                finding.violations.append(
                    Violation(rule: .missingEvidence, words: "of \(entry.attempt) of \(entry.run): \(error)")
                )
            }
        }
    }
}
