/// How many operations share a transaction: so many that their work takes about as long as the commit that they
/// share. On a fast disk that is few, and nobody waits for many others; on a slow one it is many.
struct GroupSize {
    /// Never fewer nor more.
    static let range = 8...128
    /// How much a transaction counts among those before it.
    private static let weight = 0.1

    /// Means, in seconds; nil before the first transaction.
    private var work: Double?
    private var commit: Double?

    /// The most that the next transaction is to have.
    var limit: Int {
        guard let work, let commit, work > 0 else { return Self.range.upperBound }
        return min(max(Int(min(commit / work, 1000)), Self.range.lowerBound), Self.range.upperBound)
    }

    /// Learns from a transaction.
    /// - Parameters:
    ///   - count: how many operations it had.
    ///   - working: how long these took.
    ///   - committing: how long the rest took.
    mutating func learn(_ count: Int, working: Duration, committing: Duration) {
        guard count > 0 else { return }
        func mean(_ old: Double?, _ new: Double) -> Double { old.map { $0 + Self.weight * (new - $0) } ?? new }
        work = mean(work, Self.seconds(working) / Double(count))
        commit = mean(commit, Self.seconds(committing))
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
