import BerthCore

/// One figure, with what it is compared to.
struct BenchRow: Sendable, Encodable {
    /// What our figure is compared to.
    struct Peer: Sendable, Encodable {
        let name: String
        /// Absent when the peer could not be run here.
        let value: Double?
    }

    /// Which ratios are good enough.
    struct Target: Sendable, Encodable {
        enum Bound: String, Sendable, Encodable {
            case atLeast = ">="
            case atMost = "<="
        }

        let bound: Bound
        let value: Double

        static func atLeast(_ value: Double) -> Target { Target(bound: .atLeast, value: value) }
        static func atMost(_ value: Double) -> Target { Target(bound: .atMost, value: value) }

        func isMet(by figure: Double) -> Bool {
            switch bound {
            case .atLeast: figure >= value
            case .atMost: figure <= value
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode("\(bound.rawValue) \(BenchRow.text(value))")
        }
    }

    let name: String
    let unit: String
    let ours: Double
    let peer: Peer?
    /// Ours by the peer's; ours by itself where the target is an absolute one.
    let ratio: Double?
    /// Absent for a row that only informs.
    let target: Target?
    /// Absent without a target, or without the peer.
    let met: Bool?

    /// A figure against a peer's. Without the peer's value nothing is said of the target.
    init(_ name: String, unit: String, ours: Double, peer: Peer, target: Target? = nil) {
        self.name = name
        self.unit = unit
        self.ours = ours
        self.peer = peer
        let ratio = peer.value.map { ours / $0 }
        self.ratio = ratio
        self.target = target
        met = target.flatMap { target in ratio.map(target.isMet) }
    }

    /// A figure that has to keep a bound of its own.
    init(_ name: String, unit: String, ours: Double, bound: Target? = nil) {
        self.name = name
        self.unit = unit
        self.ours = ours
        peer = nil
        ratio = nil
        target = bound
        met = bound.map { $0.isMet(by: ours) }
    }

    private enum CodingKeys: String, CodingKey {
        case name, unit, ours, peer, ratio, target, met
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(unit, forKey: .unit)
        try container.encode(ours, forKey: .ours)
        // What is not known is said to be so.
        try container.encode(peer, forKey: .peer)
        try container.encode(ratio, forKey: .ratio)
        try container.encode(target, forKey: .target)
        try container.encode(met, forKey: .met)
    }

    /// A number without digits that say nothing.
    static func text(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\(value)"
    }
}
