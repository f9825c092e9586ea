import BerthCore
import BerthSystem
import Foundation

extension FaultStorm.Outcome {
    /// The outcome for people, line by line.
    package var report: [String] {
        var lines = [
            "events: \(finding.touches) touches of devices, \(finding.attempts) attempts, \(finding.runs) runs, "
                + "\(finding.entries) ledger entries, \(finding.kept) results kept, \(finding.blobs) files of evidence",
            "faults: "
                + faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
                + ", lost replies \(replies.lost)",
            "replies lost after they were done: \(replies.words)",
        ]
        for result in results {
            let words = result.target.map { " (target \($0), \(result.met == true ? "met" : "NOT MET"))" }
            lines.append("\(result.name): \(FaultResult.text(result.ours)) \(result.unit)\(words ?? "")")
        }
        for violation in finding.violations.prefix(20) { lines.append("violation: \(violation)") }
        if finding.violations.count > 20 { lines.append("and \(finding.violations.count - 20) more violations") }
        return lines
    }

    /// The figures.
    package var results: [FaultResult] {
        var results = [
            FaultResult("overlaps", "count", finding.count(.overlap, .concurrentRun), atMost: 0),
            FaultResult("stale touches accepted", "count", finding.count(.staleTouch, .lateTouch), atMost: 0),
            FaultResult("lost results", "count", finding.count(.lostResult), atMost: 0),
            FaultResult(
                "doubled results",
                "count",
                finding.count(.doubledResult, .repeatedAttempt, .inventedResult),
                atMost: 0
            ),
            FaultResult("forgotten results", "count", finding.count(.forgottenResult), atMost: 0),
            FaultResult("deciding entries without their evidence", "count", finding.count(.missingEvidence), atMost: 0),
            FaultResult("repeats per attempt met by a fault", "ratio", finding.repeatsPerHit, atMost: 1.05),
            FaultResult("runs", "count", Double(finding.runs)),
        ]
        let (touches, made) = (Double(finding.touches), Double(faults.values.reduce(0, +)))
        if isLong {
            results.append(FaultResult("touches of devices", "count", touches, atLeast: 1_000_000))
            results.append(FaultResult("faults", "count", made, atLeast: 2000))
        } else {
            results.append(FaultResult("touches of devices", "count", touches))
            results.append(FaultResult("faults", "count", made))
        }
        results.append(FaultResult("replies lost after they were done", "count", Double(replies.lost)))
        if losesMessages { results += shares }
        if let longest = outages.max() {
            results.append(FaultResult("API away after a kill of the coordinator, at most", "s", longest, atMost: 2))
        }
        return results + measured
    }

    /// How many of a hundred replies were lost, by who said them. Submissions are too few for a target, and a host's own
    /// replies take a whole connection along, which may not break all the time.
    private var shares: [FaultResult] {
        func share(_ speaker: ReplyTally.Speaker) -> Double {
            let count = replies[speaker]
            return count.all == 0 ? 0 : Double(count.lost) / Double(count.all) * 100
        }
        return [
            FaultResult("lost of the coordinator's replies to agents", "%", share(.coordinator), atLeast: 10),
            FaultResult("lost of the agents' replies to the coordinator", "%", share(.agents), atLeast: 10),
            FaultResult("lost of the hosts' replies to the coordinator", "%", share(.hosts)),
            FaultResult("lost of the replies to submissions", "%", share(.api)),
            FaultResult("attempts that kills met", "count", Double(finding.hits)),
            FaultResult("runs executed again", "count", finding.repeats, atMost: Double(finding.hits) * 1.05),
        ]
    }
}
