import BerthCore

/// Why something could not be done through a host's channel.
enum HostLinkError: Error, Hashable, CustomStringConvertible {
    case notConnected(host: String)
    case protocolMismatch(host: String, theirs: ProtocolVersions)
    case agentMismatch(slot: String, host: String, theirs: ProtocolVersions)
    case misrouted(host: String, route: String, problem: String)
    case noGreeting(host: String, seconds: Int)
    case blobRefused(Digest, reason: String)
    /// It says more than can be written down, without end; the limit is in bytes.
    case flooded(host: String, slot: String, limit: Int)
    case closedByHost(host: String, reason: String)
    /// With the fingerprints of both keys.
    case hostKeyChanged(host: String, pinned: String, shown: String)

    var description: String {
        switch self {
        case .notConnected(let host): "host \(host) is not connected"
        case .protocolMismatch(let host, let theirs):
            "host \(host) speaks protocol versions \(theirs.lowest) to \(theirs.highest), "
                + "this coordinator \(ProtocolVersions.own.lowest) to \(ProtocolVersions.own.highest); "
                + "install the berth-agent of the coordinator's release there"
        case .agentMismatch(let slot, let host, let theirs):
            "the agent of slot \(slot) on host \(host) speaks protocol versions \(theirs.lowest) to \(theirs.highest), "
                + "this coordinator \(ProtocolVersions.own.lowest) to \(ProtocolVersions.own.highest); "
                + "install the berth-agent of the coordinator's release there"
        case .misrouted(let host, let route, let problem):
            "host \(host) sent a message for \(route.isEmpty ? "itself" : "slot \(route)") that makes no sense: \(problem)"
        case .noGreeting(let host, let seconds):
            "host \(host) did not answer as berth-agent within \(seconds) s; "
                + "check the forced command in its authorized_keys and its shell's start-up files"
        case .blobRefused(let digest, let reason): "the host refused the blob \(digest): \(reason)"
        case .flooded(let host, let slot, let limit):
            "host \(host) was cut off: it sends more than is written down, last for slot \(slot), and more than "
                + "\(limit >> 20) MiB would wait. If the store is well (see the log), look at what the agents on it do"
        case .hostKeyChanged(let host, let pinned, let shown):
            "host \(host) shows another key than the pinned one: pinned \(pinned), shown \(shown). Nothing was sent. If the "
                + "host was set up anew, compare with `ssh-keygen -lf` on its own console, then: berth host trust \(host) "
                + "--fingerprint \(shown); if it was not, somebody answers in its place"
        case .closedByHost(let host, let reason): "host \(host) closed the channel: \(reason)"
        }
    }
}
