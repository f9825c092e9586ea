/// Measured times, in milliseconds.
struct Samples: Sendable {
    private(set) var values: [Double] = []

    mutating func add(_ duration: Duration) { values.append(duration.inMilliseconds) }

    mutating func add(_ other: Samples) { values += other.values }

    /// The value below which this share of all lies; 0 without any.
    func percentile(_ share: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }

    var median: Double { percentile(0.5) }
    var p99: Double { percentile(0.99) }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
    var inMilliseconds: Double { inSeconds * 1000 }
}
