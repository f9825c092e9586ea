/// What a run demands of a slot. Equal requirements form a requirement class.
package struct Requirement: Sendable, Hashable, Codable, CustomStringConvertible {
    package let platform: Platform
    package let os: OSPin
    /// What the slot must be able to do, in order.
    package let features: [String]
    /// What the slot's labels must be.
    package let labels: [String: String]

    package init(platform: Platform, os: OSPin, features: [String], labels: [String: String]) {
        self.platform = platform
        self.os = os
        self.features = Set(features).sorted()
        self.labels = labels
    }

    package var description: String {
        let wanted = features + labels.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        return "\(platform.rawValue) \(os)" + (wanted.isEmpty ? "" : " with \(wanted.joined(separator: ", "))")
    }

    /// What a slot lacks to satisfy this; empty when it does.
    package func unmet(by offer: SlotOffer) -> [UnmetRequirement] {
        var unmet: [UnmetRequirement] = []
        if platform != offer.platform { unmet.append(.platform(needed: platform, offered: offer.platform)) }
        if os != offer.os { unmet.append(.os(needed: os, offered: offer.os)) }
        for feature in features where !offer.features.contains(feature) { unmet.append(.feature(feature)) }
        for (key, value) in labels.sorted(by: { $0.key < $1.key }) where offer.labels[key] != value {
            unmet.append(.label(key: key, needed: value, offered: offer.labels[key]))
        }
        return unmet
    }
}

/// What a slot has to offer to runs.
package struct SlotOffer: Sendable, Hashable {
    package let platform: Platform
    package let os: OSPin
    package let features: [String]
    package let labels: [String: String]

    package init(platform: Platform, os: OSPin, features: [String], labels: [String: String]) {
        self.platform = platform
        self.os = os
        self.features = features
        self.labels = labels
    }
}

/// One thing that a slot lacks for a run.
package enum UnmetRequirement: Sendable, Hashable, CustomStringConvertible {
    case platform(needed: Platform, offered: Platform)
    case os(needed: OSPin, offered: OSPin)
    case feature(String)
    case label(key: String, needed: String, offered: String?)

    package var description: String {
        switch self {
        case .platform(let needed, let offered): "platform \(needed.rawValue) is needed, it has \(offered.rawValue)"
        case .os(let needed, let offered): "system \(needed) is needed, it has \(offered)"
        case .feature(let feature): "it cannot \(feature)"
        case .label(let key, let needed, let offered):
            "label \(key):\(needed) is needed, it has \(offered.map { "\(key):\($0)" } ?? "no \(key)")"
        }
    }
}
