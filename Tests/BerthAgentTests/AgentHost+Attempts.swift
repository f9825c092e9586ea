import BerthCore

extension AgentHost {
    /// Brings the builds to the host, assigns an attempt, acknowledges its result and gives it.
    func perform(
        _ coordinator: CoordinatorEnd,
        _ attempt: String,
        _ epoch: UInt64,
        _ builds: [TestBuild],
        case definition: CaseDefinition = BuiltInCases.update
    ) async throws -> AttemptReport {
        try await coordinator.upload(builds)
        try coordinator.send(
            .assign(try TestAssignment.make(attempt, epoch: epoch, case: definition, builds: builds)),
            to: "sim-1"
        )
        let report = try await coordinator.report(of: attempt)
        try coordinator.send(
            .recorded(Acknowledgement(attempt: attempt, epoch: epoch, filing: .recorded)),
            to: "sim-1"
        )
        return report
    }
}

extension CoordinatorEnd {
    func declination(of attempt: String) async throws -> Declination {
        try await wait("\(attempt) is declined") {
            if case .declined(let declination) = $0, declination.attempt == attempt { declination } else { nil }
        }
    }

    func acceptance(of attempt: String) async throws {
        _ = try await wait("\(attempt) is accepted") { message -> Bool? in
            if case .accepted(let reference) = message, reference.attempt == attempt { true } else { nil }
        }
    }

    /// The attempt has begun its step of this title.
    func progress(of attempt: String, to title: String) async throws {
        _ = try await wait("\(attempt) begins to \(title)") { message -> Bool? in
            if case .progress(let progress) = message, progress.attempt == attempt, progress.title == title {
                true
            } else {
                nil
            }
        }
    }
}
