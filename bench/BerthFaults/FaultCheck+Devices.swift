// What the devices' own logs say.
extension FaultCheck {
    /// Judges each device by itself.
    /// - Parameter finding: gets what is wrong.
    /// - Returns: every attempt that touched a device, by its ID.
    func judgeDevices(_ finding: inout Finding) -> [String: Span] {
        var spans: [String: Span] = [:]
        for (device, lines) in logs.sorted(by: { $0.key < $1.key }) {
            let touches = lines.filter { !$0.isKept }
            finding.touches += touches.count
            judgeOrder(device, touches, &finding)
            judgeUses(device, touches, &finding)
            for touch in touches { add(touch, device, &spans, &finding) }
            for line in lines where line.isKept { spans[line.attempt]?.isKept = true }
        }
        finding.attempts = spans.count
        for span in spans.values.sorted(by: { $0.attempt < $1.attempt }) where span.preparations > 1 {
            finding.violations.append(
                Violation(
                    rule: .repeatedAttempt,
                    words: "\(span.attempt) began \(span.preparations) times on \(span.device)"
                )
            )
        }
        return spans
    }

    private func add(_ touch: Touch, _ device: String, _ spans: inout [String: Span], _ finding: inout Finding) {
        if let known = spans[touch.attempt], known.device != device {
            finding.violations.append(
                Violation(rule: .repeatedAttempt, words: "\(touch.attempt) was on \(known.device) and on \(device)")
            )
        }
        var span =
            spans[touch.attempt]
            ?? Span(
                device: device,
                run: touch.run,
                attempt: touch.attempt,
                epoch: touch.epoch,
                first: touch.at,
                firstDecided: touch.decided,
                last: touch.at,
                lastDecided: touch.decided
            )
        span.firstDecided = min(span.firstDecided, touch.decided)
        span.last = max(span.last, touch.at)
        if !touch.isPuttingAway { span.lastDecided = max(span.lastDecided, touch.decided) }
        if touch.verb == "prepare", touch.event == .begin { span.preparations += 1 }
        if touch.verb == "settle", touch.event == .end { span.isSettled = true }
        spans[touch.attempt] = span
    }

    /// The order of the lines is the order of the touches: each was appended by one write.
    private func judgeOrder(_ device: String, _ touches: [Touch], _ finding: inout Finding) {
        var highest: UInt64 = 0
        for touch in touches {
            if touch.event == .overlap {
                finding.violations.append(
                    Violation(
                        rule: .overlap,
                        words:
                            "\(device) was in use when process \(touch.process) began \(touch.verb) for \(touch.attempt)"
                    )
                )
            }
            // The end of a use is its beginning's.
            if touch.epoch < highest, touch.event != .end {
                finding.violations.append(
                    Violation(
                        rule: .staleTouch,
                        words:
                            "\(device) took \(touch.verb) of \(touch.attempt) under epoch \(touch.epoch) after \(highest)"
                    )
                )
            }
            highest = max(highest, touch.epoch)
        }
    }

    /// Nobody else may touch a device between the beginning and the end of a use. A use without an end was killed at a
    /// time that the log does not know: the device's own word stands for it.
    private func judgeUses(_ device: String, _ touches: [Touch], _ finding: inout Finding) {
        var open: [Int32: Int] = [:]
        for (index, touch) in touches.enumerated() {
            if touch.event == .begin { open[touch.process] = index }
            guard touch.event == .end, let begin = open.removeValue(forKey: touch.process) else { continue }
            for other in touches[(begin + 1)..<index]
            where other.process != touch.process && other.attempt != touch.attempt && other.event != .end {
                finding.violations.append(
                    Violation(
                        rule: .overlap,
                        words:
                            "\(device) was touched for \(other.attempt) while \(touch.attempt) used it (\(touch.verb))"
                    )
                )
            }
        }
    }

    /// Attempts of one run come one after the other, wherever they run.
    func judgeConcurrency(_ spans: [String: Span], _ finding: inout Finding) {
        for (run, attempts) in Dictionary(grouping: spans.values, by: \.run).sorted(by: { $0.key < $1.key }) {
            let ordered = attempts.sorted { $0.first < $1.first }
            for (one, next) in zip(ordered, ordered.dropFirst()) where next.first < one.lastDecided {
                finding.violations.append(
                    Violation(
                        rule: .concurrentRun,
                        words:
                            "\(run): \(one.attempt) on \(one.device) went on for \((one.lastDecided - next.first) / 1_000_000) ms "
                            + "after \(next.attempt) had begun on \(next.device)"
                    )
                )
            }
        }
    }
}
