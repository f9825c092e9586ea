import Foundation

/// One measured value beside its target, as `ops/bench` prints and stores it.
package struct FaultResult: Encodable, Sendable {
    package let name: String
    package let unit: String
    package let ours: Double
    /// Such as `<= 2`; nil for a value that only informs.
    package let target: String?
    package let met: Bool?

    package init(_ name: String, _ unit: String, _ ours: Double, atMost target: Double? = nil) {
        self.name = name
        self.unit = unit
        self.ours = ours
        self.target = target.map { "<= \(Self.text($0))" }
        met = target.map { ours <= $0 }
    }

    package init(_ name: String, _ unit: String, _ ours: Int, atMost target: Double) {
        self.init(name, unit, Double(ours), atMost: target)
    }

    package init(_ name: String, _ unit: String, _ ours: Double, atLeast target: Double) {
        self.name = name
        self.unit = unit
        self.ours = ours
        self.target = ">= \(Self.text(target))"
        met = ours >= target
    }

    static func text(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : String(format: "%.3g", value)
    }

    private enum CodingKeys: String, CodingKey {
        case name, unit, ours, peer, ratio, target, met
    }

    /// Absent values are written as null. No other farm is run under these faults: there is no peer.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(unit, forKey: .unit)
        try container.encode(ours, forKey: .ours)
        try container.encodeNil(forKey: .peer)
        try container.encodeNil(forKey: .ratio)
        try container.encode(target, forKey: .target)
        try container.encode(met, forKey: .met)
    }
}
