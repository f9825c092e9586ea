import BerthCore
import BerthSystem
import BerthTestSupport
import Testing

/// What an operator does to a farm that works.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct OperatorTests {
    @Test func aDrainedSlotIsNamedUntilItIsResumedADeadlineExpiresAndAReservedSlotServesItsBatchOnly() async throws {
        try await TestFarm.with(slots: 1) { farm in
            #expect(
                try await farm.berth(["slot", "drain", "sim-1", "--reason", "new cable"])
                    == "slot sim-1 is drained by admin: new cable\n"
            )
            let unknown = try await farm.tryBerth(["slot", "drain", "sim-9", "--reason", "x"])
            #expect(unknown.termination == .exited(65) && unknown.errorText.contains("there are sim-1"))

            let batch = try await farm.submit(new: ["correct"], cases: ["update"])
            let why = try await farm.berth(["why", batch.runs[0].id])
            #expect(why.contains("No run goes before it."), "\(why)")
            #expect(
                why.contains("  sim-1 on test-host\n      slot sim-1 is drained by admin: new cable\n"),
                "\(why)"
            )
            let slot = try await farm.berth(["why", "sim-1"])
            #expect(slot.contains("slot sim-1 takes no run\n  slot sim-1 is drained by admin: new cable"), "\(slot)")
            #expect(slot.contains("1 run not here:"), "\(slot)")
            #expect(try await farm.berth(["status"]).contains("drained"))

            // It waits for a slot that does not come back in time.
            let short = try await farm.json(
                BatchView.self,
                ["submit", "--old", "legacy", "--new", "correct", "--case", "update", "--deadline", "2s"]
            )
            let watched = try await farm.berth(["watch", short.id])
            #expect(watched.contains("1 of 1 runs finished: 1 expired"), "\(watched)")
            #expect(try await farm.runs(of: batch.id).map(\.state) == [.queued])

            #expect(try await farm.berth(["slot", "resume", "sim-1"]).contains("Back in use: slot sim-1 is drained"))
            #expect(try await farm.waitUntilFinished(batch.id).map(\.verdict) == [.passed])
            try await farm.waitForIdleSlots(1)

            // Whoever came first waits while the slot is kept for another batch.
            try await farm.berth(["farm", "maintenance", "--reason", "order"])
            let first = try await farm.submit(new: ["correct"], cases: ["update"])
            let second = try await farm.submit(new: ["correct"], cases: ["update"])
            let reservation = try await farm.json(
                Reservation.self,
                ["reserve", "sim-1", "--batch", second.id, "--for", "1h", "--reason", "release"]
            )
            try await farm.berth(["farm", "resume"])
            #expect(try await farm.waitUntilFinished(second.id).map(\.verdict) == [.passed])
            let kept = try await farm.berth(["why", first.runs[0].id])
            #expect(kept.contains("reserved for batch \(second.id) (\(reservation.id) by admin)"), "\(kept)")
            #expect(try await farm.runs(of: first.id).map(\.attempts.count) == [0])
            try await farm.berth(["reservation", "end", reservation.id])
            #expect(try await farm.waitUntilFinished(first.id).map(\.verdict) == [.passed])
        }
    }
}
