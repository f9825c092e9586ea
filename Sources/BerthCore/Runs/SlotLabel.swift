/// The facts about a slot that a run may demand by label.
package enum SlotLabel: String, Sendable, Hashable, CaseIterable {
    case host
    case slot
    case model
    case kind
    case platform

    /// The known keys, for messages.
    package static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// All labels of a slot.
    package static func labels(of slot: String, host: String, device: DeviceFacts) -> [String: String] {
        let facts: [(SlotLabel, String)] = [
            (.host, host), (.slot, slot), (.model, device.model), (.kind, device.platform.kind.rawValue),
            (.platform, device.platform.rawValue),
        ]
        return facts.reduce(into: [:]) { $0[$1.0.rawValue] = $1.1 }
    }
}
