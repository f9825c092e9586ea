import BerthCore

/// What pins stand for, as an assignment carries it. It never changes.
struct PinnedWork: Sendable {
    let pins: Pins
    let caseDefinition: CaseDefinition
    /// Per build of the path.
    let builds: [AssignedBuild]

    func assignment(run: Int64, attempt: Int64, epoch: UInt64, nonce: String, timeout: Int64) -> Assignment {
        Assignment(
            run: RecordID.run.text(run),
            attempt: RecordID.attempt.text(attempt),
            epoch: epoch,
            nonce: nonce,
            pins: pins,
            caseDefinition: caseDefinition,
            builds: builds,
            timeout: timeout
        )
    }
}
