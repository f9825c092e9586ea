import BerthCore
import BerthFaults
import BerthSystem
import Testing

/// What the check of the fault harness notices, and what it lets pass.
struct FaultCheckTests {
    /// The lines of one attempt that goes well on a device, from a moment on, 10 ms a touch.
    private static func attempt(_ number: Int, run: Int, epoch: Int, at start: Int) -> [Touch] {
        ["prepare", "install", "launch", "settle"].enumerated().flatMap { index, verb in
            let at = start + index * 20
            return [touch(number, run, epoch, at, .begin, verb), touch(number, run, epoch, at + 10, .end, verb)]
        }
    }

    private static func touch(
        _ number: Int,
        _ run: Int,
        _ epoch: Int,
        _ at: Int,
        _ event: Touch.Event,
        _ verb: String
    ) -> Touch {
        Touch(
            at: Int64(at) * 1_000_000,
            wall: Int64(at),
            process: Int32(number * 100),
            event: event,
            verb: verb,
            run: "r-\(run)",
            attempt: "a-\(number)",
            epoch: UInt64(epoch),
            decided: Int64(at) * 1_000_000
        )
    }

    private static func judge(
        _ logs: [String: [Touch]],
        submitted: Set<String> = [],
        disturbances: [Disturbance] = []
    ) -> FaultCheck.Finding {
        FaultCheck(logs: logs, ledgers: [:], submitted: submitted, disturbances: disturbances, lease: 3_000_000_000)
            .judge()
    }

    private static func rules(_ finding: FaultCheck.Finding) -> Set<FaultCheck.Rule> {
        Set(finding.violations.map(\.rule))
    }

    @Test func linesAreReadAsTheyAreWritten() {
        let touch = Touch("1500 1700000000000 42 begin prepare r-1 a-2 3 1400")
        #expect(touch?.at == 1500 && touch?.process == 42 && touch?.event == .begin && touch?.epoch == 3)
        #expect(Touch("1500 1700000000000 42 begin prepare r-1 a-2 3") == nil)
        #expect(Touch("1500 1700000000000 42 sleep prepare r-1 a-2 3 1400") == nil)
    }

    @Test func attemptsOneAfterTheOtherAreFine() {
        let log = Self.attempt(1, run: 1, epoch: 1, at: 0) + Self.attempt(2, run: 2, epoch: 2, at: 100)
        let kill = Disturbance("kill", devices: ["d"], from: 0, to: 200_000_000, isFatal: true)
        let finding = Self.judge(["d": log], disturbances: [kill])
        #expect(finding.violations.isEmpty, "\(finding.violations)")
        #expect(finding.attempts == 2 && finding.touches == 16)
    }

    @Test func theDevicesOwnWordOnSharingCounts() {
        let log = Self.attempt(1, run: 1, epoch: 1, at: 0) + [Self.touch(2, 2, 2, 90, .overlap, "prepare")]
        #expect(Self.rules(Self.judge(["d": log])).contains(.overlap))
    }

    @Test func aTouchWithinAnothersUseIsAnOverlap() {
        let log = [
            Self.touch(1, 1, 1, 0, .begin, "install"), Self.touch(2, 2, 2, 5, .touch, "look"),
            Self.touch(1, 1, 1, 10, .end, "install"),
        ]
        #expect(Self.rules(Self.judge(["d": log])).contains(.overlap))
    }

    @Test func aLowerEpochAfterAHigherOneIsStale() {
        let log = Self.attempt(2, run: 2, epoch: 2, at: 0) + Self.attempt(1, run: 1, epoch: 1, at: 100)
        #expect(Self.rules(Self.judge(["d": log])).contains(.staleTouch))
        // Each device has epochs of its own.
        let apart = [
            "d": Self.attempt(2, run: 2, epoch: 2, at: 0), "e": Self.attempt(1, run: 1, epoch: 1, at: 100),
        ]
        #expect(!Self.rules(Self.judge(apart)).contains(.staleTouch))
    }

    @Test func anAttemptThatBeginsAgainIsNoticed() {
        let log = Self.attempt(1, run: 1, epoch: 1, at: 0) + Self.attempt(1, run: 1, epoch: 1, at: 100)
        #expect(Self.rules(Self.judge(["d": log])).contains(.repeatedAttempt))
    }

    @Test func twoAttemptsOfARunAtOnceAreNoticed() {
        let logs = ["d": Self.attempt(1, run: 1, epoch: 1, at: 0), "e": Self.attempt(2, run: 1, epoch: 7, at: 45)]
        #expect(Self.rules(Self.judge(logs)).contains(.concurrentRun))
        let apart = ["d": Self.attempt(1, run: 1, epoch: 1, at: 0), "e": Self.attempt(2, run: 1, epoch: 7, at: 80)]
        #expect(!Self.rules(Self.judge(apart)).contains(.concurrentRun))
    }

    @Test func aRunWithoutAVerdictIsLost() {
        let finding = Self.judge([:], submitted: ["r-1"])
        #expect(Self.rules(finding) == [.lostResult])
    }

    @Test func aRepeatNeedsAFaultThatExplainsIt() {
        let logs = ["d": Self.attempt(1, run: 1, epoch: 1, at: 0)]
        #expect(Self.rules(Self.judge(logs)).contains(.excessRepeats))
        func disturbance(_ devices: Set<String>, isFatal: Bool, to: Int64) -> Disturbance {
            Disturbance("fault", devices: devices, from: 0, to: to, isFatal: isFatal)
        }
        let killed = Self.judge(logs, disturbances: [disturbance(["d"], isFatal: true, to: 1)])
        #expect(killed.violations.isEmpty && killed.hits == 1 && killed.repeats == 1)
        // Elsewhere, or too short to end a lease.
        for other in [
            disturbance(["e"], isFatal: true, to: 1), disturbance(["d"], isFatal: false, to: 60_000_000_000),
        ] {
            #expect(Self.rules(Self.judge(logs, disturbances: [other])).contains(.excessRepeats))
        }
    }

    @Test func aKillMeetsAnAttemptFromItsFirstDecisionOn() {
        // The tool was on its way when its agent was killed, and noted its use afterwards.
        let late = Touch(
            at: 30_000_000,
            wall: 30,
            process: 100,
            event: .begin,
            verb: "prepare",
            run: "r-1",
            attempt: "a-1",
            epoch: 1,
            decided: 10_000_000
        )
        func killed(at moment: Int64) -> FaultCheck.Finding {
            let kill = Disturbance("kill", devices: ["d"], from: moment, to: moment + 1, isFatal: true)
            return Self.judge(["d": [late]], disturbances: [kill])
        }
        #expect(killed(at: 20_000_000).violations.isEmpty)
        // Before the agent had decided anything it cannot have been in the way.
        #expect(Self.rules(killed(at: 5_000_000)) == [.excessRepeats])
    }
}
