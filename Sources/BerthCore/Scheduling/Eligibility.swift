/// What the scheduler looks at of a slot.
package struct SlotStanding: Sendable, Hashable {
    package let name: String
    package let host: String
    package let offer: SlotOffer
    /// Of the slot, its host and the farm, where they are out of use.
    package let services: [ServiceState]
    /// That are in force.
    package let reservations: [Reservation]
    /// The attempt that holds it.
    package let openAttempt: String?
    /// What only a coordinator that is connected knows: why it cannot be reached, or what its agent says against work.
    package var agentProblem: String?

    package init(
        name: String,
        host: String,
        offer: SlotOffer,
        services: [ServiceState],
        reservations: [Reservation],
        openAttempt: String?,
        agentProblem: String? = nil
    ) {
        self.name = name
        self.host = host
        self.offer = offer
        self.services = services
        self.reservations = reservations
        self.openAttempt = openAttempt
        self.agentProblem = agentProblem
    }
}

/// What the scheduler looks at of a run that waits, or of all runs of a lane.
package struct RunStanding: Sendable, Hashable {
    package let requirement: Requirement
    package let submitter: String
    /// Absent for a lane.
    package let batch: String?
    /// That concern it.
    package let limits: [UsedLimit]

    package init(requirement: Requirement, submitter: String, batch: String?, limits: [UsedLimit]) {
        self.requirement = requirement
        self.submitter = submitter
        self.batch = batch
        self.limits = limits
    }
}

/// Whether a run may go to a slot. The store claims by it, and `why` tells it.
package enum Eligibility {
    /// Who submits the runs that find out whether a quarantined slot works again.
    package static let healthCheckSubmitter = "berth-health-check"

    /// Why a slot takes no run at all, or none of this one's kind; empty if it may.
    package static func obstacles(_ run: RunStanding, _ slot: SlotStanding) -> [Obstacle] {
        var obstacles = run.requirement.unmet(by: slot.offer).map(Obstacle.unmet)
        if let problem = slot.agentProblem { obstacles.append(.agent(problem)) }
        if let attempt = slot.openAttempt { obstacles.append(.busy(attempt: attempt)) }
        let isHealthCheck = run.submitter == healthCheckSubmitter
        for service in slot.services where !(isHealthCheck && service.state == .quarantined) {
            obstacles.append(.outOfUse(service))
        }
        if !isHealthCheck, !slot.reservations.isEmpty, !slot.reservations.contains(where: { admits($0, run) }) {
            obstacles.append(.reserved(slot.reservations))
        }
        if !isHealthCheck { obstacles += run.limits.filter(\.isReached).map(Obstacle.limit) }
        return obstacles
    }

    /// The batches whose runs of a lane a slot's reservations admit; nil when they admit all of the lane's runs.
    package static func admittedBatches(_ lane: RunStanding, _ slot: SlotStanding) -> [String]? {
        guard !slot.reservations.isEmpty, lane.submitter != healthCheckSubmitter else { return nil }
        let admitting = slot.reservations.filter { admits($0, lane) }
        return admitting.contains { $0.label != nil } ? nil : admitting.compactMap(\.batch)
    }

    /// Whether a reservation is for a run. A lane, which has no batch, may hold runs of a batch: the claim looks for
    /// them one by one.
    package static func admits(_ reservation: Reservation, _ run: RunStanding) -> Bool {
        if let label = reservation.label {
            return run.requirement.labels.contains { "\($0.key):\($0.value)" == label }
        }
        return run.batch == nil || run.batch == reservation.batch
    }
}

/// One reason why a run does not go to a slot.
package enum Obstacle: Sendable, Hashable, CustomStringConvertible {
    case unmet(UnmetRequirement)
    case agent(String)
    case busy(attempt: String)
    case outOfUse(ServiceState)
    case reserved([Reservation])
    case limit(UsedLimit)

    /// Whether it lies in what slot and run are, and not in what goes on now.
    package var isLasting: Bool {
        if case .unmet = self { true } else { false }
    }

    package var description: String {
        switch self {
        case .unmet(let requirement): return "\(requirement)"
        case .agent(let problem): return problem
        case .busy(let attempt): return "busy with attempt \(attempt)"
        case .outOfUse(let service): return "\(service)"
        case .reserved(let reservations):
            return "reserved for \(reservations.map(\.holder).joined(separator: " and ")) "
                + "(\(reservations.map { "\($0.id) by \($0.actor)" }.joined(separator: ", ")))"
        case .limit(let used):
            return
                "\(used.limit.subject.rawValue) \(used.limit.name) may hold \(used.limit.most) slots and holds \(used.open)"
        }
    }
}
