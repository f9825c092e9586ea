import BerthCore

/// A host with the coordinator that holds it.
struct HostHolding: Sendable {
    let record: HostRecord
    /// Absent when nobody does.
    let holder: String?
}

/// Who is to hold what.
enum HoldingPolicy {
    /// The hosts that a coordinator is to hold from now on: what it holds, less one if that is more than its share, and
    /// what nobody holds up to its share. Shares go by the order of names, so that all coordinators agree on them.
    static func share(of coordinator: String, hosts: [HostHolding], coordinators: [String]) -> Set<String> {
        let count = max(1, coordinators.count)
        let place = coordinators.sorted().firstIndex(of: coordinator) ?? 0
        let share = hosts.count / count + (place < hosts.count % count ? 1 : 0)
        var mine = hosts.filter { $0.holder == coordinator }.map(\.record.name)
        if mine.count > share { mine.removeLast() }
        let free = hosts.filter { $0.holder == nil }.map(\.record.name)
        return Set(mine + free.prefix(max(0, share - mine.count)))
    }
}
