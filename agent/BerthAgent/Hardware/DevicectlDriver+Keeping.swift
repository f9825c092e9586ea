import BerthCore
import BerthSystem

/// The phone as something that is kept after a failure.
extension DevicectlDriver {
    /// There is one phone, and cleaning it needs it.
    package var releasesBesideAttempts: Bool { false }

    package func kept() -> [KeptDevice] {
        guard let record = records.record, record.stage != .open else { return [] }
        let stage: KeptDevice.Stage =
            switch record.stage {
            case .open, .due: .cleaning
            case .held: .held
            case .quarantined: .quarantined
            }
        return [
            KeptDevice(
                udid: tool.udid,
                stage: stage,
                run: record.run,
                attempt: record.attempt,
                caseName: record.caseName,
                bundle: record.bundles.first,
                outcome: record.outcome,
                cause: record.cause,
                since: record.since,
                until: record.until,
                evidence: record.evidence
            )
        ]
    }

    /// Holds the phone if an agent died while an attempt's apps were on it: it may have decided so on a disk that did not
    /// take it. A phone on which no app was started has nothing to show.
    func holdAfterDeath() {
        guard var record = records.record, record.stage == .open else { return }
        guard record.hasLaunched else { return records.move(to: .due) }
        record.outcome = .errored
        records.remember(record)
        let words = "the agent died during attempt \(record.attempt) of run \(record.run)"
        records.move(to: .held, cause: OutcomeCause("agent-died", words), after: wish.hold)
    }

    package func release(_ order: DeviceRelease) async throws -> OutcomeCause? {
        guard let record = records.record, order.udid.uppercased() == tool.udid.uppercased() else {
            return OutcomeCause(
                "not-kept",
                "the slot does not keep \(order.udid): \(records.record == nil ? "its phone is free" : "its phone is \(tool.udid)")"
            )
        }
        try await clean(record, order: ReleaseRequest.Order(unclean: order.unclean))
        return records.record.map { $0.cause ?? OutcomeCause("not-clean", "the phone is not proved clean") }
    }

    package func evidenceIsSafe(of attempt: String) {
        guard var record = records.record, record.attempt == attempt, record.evidence != nil else { return }
        record.evidence = nil
        records.remember(record)
    }

    /// Nothing: every attempt looks at the phone before it touches it.
    package func recoverFromManualWork() async throws {}
}
