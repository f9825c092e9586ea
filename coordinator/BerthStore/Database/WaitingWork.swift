/// Operations that wait for a thread of the store, in the order in which they are taken.
///
/// Claims go first, since a slot stands idle until its claim is on disk; a quarter of each group is kept for the others,
/// so that these go on under whatever claims come. Among claims, and among the others, who came first goes first.
struct WaitingWork {
    private struct Place {
        /// In the order of coming.
        let number: UInt64
        let work: any PendingWork
    }

    private var claims: [Place] = []
    private var others: [Place] = []
    /// Those that share no transaction, since they were in others' way before.
    private var alone: [Place] = []
    private var next: UInt64 = 0

    /// How many wait.
    var count: Int { claims.count + others.count + alone.count }
    var isEmpty: Bool { count == 0 }

    /// Adds an operation behind those that wait.
    mutating func add(_ work: any PendingWork, alone isAlone: Bool = false) {
        let place = Place(number: next, work: work)
        next += 1
        if isAlone {
            alone.append(place)
        } else if work.order == .claims {
            claims.append(place)
        } else {
            others.append(place)
        }
    }

    /// Takes those that share the next transaction, at most so many; none when none waits.
    mutating func take(_ limit: Int) -> [any PendingWork] {
        let oldest = min(claims.first?.number ?? .max, others.first?.number ?? .max)
        if let first = alone.first, first.number < oldest {
            alone.removeFirst()
            return [first.work]
        }
        let kept = min(others.count, max(limit / 4, 1))
        let urgent = min(claims.count, limit - kept)
        let rest = min(others.count, limit - urgent)
        let group = claims.prefix(urgent) + others.prefix(rest)
        claims.removeFirst(urgent)
        others.removeFirst(rest)
        return group.map(\.work)
    }
}
