import BerthCore

/// A batch as it goes on, for a table in place or line by line.
enum BatchProgress {
    /// A title and a row for each run; runs that are at work come first.
    static func lines(_ batch: BatchView) -> [String] {
        var table = Table("RUN", "CASE", "BUILDS", "OS", "STATE", "VERDICT", "SLOT", "ATTEMPTS", "NOW")
        for run in (0...3).flatMap({ place in batch.runs.filter { rank($0) == place } }) {
            table.add(
                run.id,
                run.pins.caseName,
                PlainText.path(run.buildNames),
                run.pins.os.version,
                run.state.rawValue,
                run.verdict?.rawValue ?? "",
                run.attempts.last?.slot ?? "",
                "\(run.attempts.count)",
                run.attempts.last?.progress ?? ""
            )
        }
        return [summary(batch)] + table.lines
    }

    /// How far the batch is, in one line.
    static func summary(_ batch: BatchView) -> String {
        let finished = batch.runs.count { $0.state.successors.isEmpty }
        let verdicts = RunVerdict.allCases.compactMap { verdict -> String? in
            let count = batch.runs.count { $0.verdict == verdict }
            return count == 0 ? nil : "\(count) \(verdict.rawValue)"
        }
        let tail = verdicts.isEmpty ? "" : ": \(verdicts.joined(separator: ", "))"
        return "batch \(batch.id), \(finished) of \(batch.runs.count) runs finished\(tail)"
    }

    /// A line for each run that stands otherwise than before; all of them the first time.
    static func changes(from former: BatchView?, to batch: BatchView) -> [String] {
        let before = Dictionary(uniqueKeysWithValues: (former?.runs ?? []).map { ($0.id, line($0)) })
        return batch.runs.compactMap { run in
            let now = line(run)
            return before[run.id] == now ? nil : now
        }
    }

    private static func line(_ run: RunView) -> String {
        var words = [run.id, run.pins.caseName, PlainText.path(run.buildNames), run.pins.os.version]
        words.append(run.verdict.map { "\(run.state.rawValue) \($0.rawValue)" } ?? run.state.rawValue)
        if let attempt = run.attempts.last {
            words.append("attempt \(attempt.id) on \(attempt.slot)")
            if let outcome = attempt.outcome { words.append("\(outcome.rawValue)") }
            if let cause = attempt.cause { words.append("(\(cause))") }
            if attempt.state.isOpen, let progress = attempt.progress { words.append("[\(progress)]") }
        }
        return PlainText.safe(words.joined(separator: " "))
    }

    private static func rank(_ run: RunView) -> Int {
        switch run.state {
        case .running: 0
        case .assigned: 1
        case .queued: 2
        case .finished, .cancelled, .expired: 3
        }
    }
}
