/// Decides the ledger.
package enum DeviceKind: String, Sendable, Hashable, Codable, CaseIterable {
    case simulator
    case hardware
}
