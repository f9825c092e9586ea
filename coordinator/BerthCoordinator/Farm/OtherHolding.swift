import BerthCore
import BerthStore

/// A host that another coordinator holds, as it told last.
struct OtherHolding: CustomStringConvertible {
    /// The coordinator's name.
    let holder: String
    /// Where its API is.
    let url: String
    /// Absent when it has told nothing yet.
    let live: HostLiveStatus?

    var description: String { url.isEmpty ? holder : "\(holder) (\(url))" }

    /// Why a slot's agent takes nothing, as far as that is known.
    func problem(of slot: String) -> String? {
        guard let known = live?.slots[slot], known.isConnected else {
            let host = live?.problem.map { ": \($0)" } ?? ""
            return "its agent is not connected to \(self), which holds its host\(host)"
        }
        if let refusal = known.keeping?.refusal { return refusal.description }
        return known.trouble.map { "what its agent said is not written down: \($0)" }
    }
}

extension Farm {
    /// The hosts that other coordinators hold, by name.
    func othersHoldings() async throws -> [String: OtherHolding] {
        guard store.isShared else { return [:] }
        return try await store.othersHoldings(of: name).mapValues { other in
            OtherHolding(
                holder: other.holder,
                url: other.url,
                live: try other.live.map {
                    try CanonicalJSON.decode(HostLiveStatus.self, from: $0.utf8, document: "stored host status")
                }
            )
        }
    }
}
