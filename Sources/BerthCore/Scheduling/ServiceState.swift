/// What part of the farm is taken out of use.
package enum ServiceScope: Sendable, Hashable, CustomStringConvertible {
    case farm
    case host(String)
    case slot(String)

    /// `farm`, `host` or `slot`.
    package var kind: String {
        switch self {
        case .farm: "farm"
        case .host: "host"
        case .slot: "slot"
        }
    }

    /// The host's or slot's name; empty for the farm.
    package var name: String {
        switch self {
        case .farm: ""
        case .host(let name), .slot(let name): name
        }
    }

    /// From its two parts; nil if they make none.
    package init?(kind: String, name: String) {
        switch kind {
        case "farm" where name.isEmpty: self = .farm
        case "host" where !name.isEmpty: self = .host(name)
        case "slot" where !name.isEmpty: self = .slot(name)
        default: return nil
        }
    }

    package var description: String { name.isEmpty ? "the farm" : "\(kind) \(name)" }
}

/// Why a part of the farm takes no new attempt. A part in use has none.
package struct ServiceState: Sendable, Hashable, Codable, CustomStringConvertible {
    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// The current attempt ends, and no other begins.
        case drained
        /// The same, since somebody works on it.
        case maintenance
        /// Of a slot only: too many attempts in a row went wrong on it. Health checks go on.
        case quarantined
    }

    /// `farm`, `host` or `slot`.
    package let kind: String
    /// The host's or slot's name; empty for the farm.
    package let name: String
    package let state: State
    /// In words: why, for who wants to change it.
    package let reason: String
    /// Who did it: the name of a token, or of the farm's own part.
    package let actor: String
    /// Milliseconds since 1970.
    package let since: Int64

    /// What it is about; nil if the two parts make none.
    package var scope: ServiceScope? { ServiceScope(kind: kind, name: name) }

    /// One sentence.
    package var description: String {
        let words =
            switch state {
            case .drained: "drained"
            case .maintenance: "in maintenance"
            case .quarantined: "in quarantine"
            }
        return "\(scope.map { "\($0)" } ?? kind) is \(words) by \(actor): \(reason)"
    }

    package init(scope: ServiceScope, state: State, reason: String, actor: String, since: Int64) {
        kind = scope.kind
        name = scope.name
        self.state = state
        self.reason = reason
        self.actor = actor
        self.since = since
    }
}
