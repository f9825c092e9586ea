/// The system versions that slots of a platform offer, and what to say when the wanted one is not among them.
package struct OSOffer: Sendable, Hashable {
    package let platform: Platform
    package let offered: [OSPin]

    package init(platform: Platform, offered: [OSPin]) {
        self.platform = platform
        self.offered = offered
    }

    /// The offered versions, those nearest to a version first: the same version in another build, then the same
    /// leading number, then by distance.
    package func nearest(to wanted: OSPin) -> [OSPin] {
        offered.enumerated().sorted { left, right in
            let (a, b) = (Self.distance(left.element, wanted), Self.distance(right.element, wanted))
            return a == b ? left.offset < right.offset : a.lexicographicallyPrecedes(b)
        }.map(\.element)
    }

    /// Why a pinned version cannot be had, which come nearest, and what would have to be installed.
    package func refusal(of wanted: OSPin) -> String {
        let nearest = nearest(to: wanted).prefix(3).map(\.description).joined(separator: ", ")
        let there = nearest.isEmpty ? "none has ever joined" : "nearest are \(nearest)"
        return "no slot of platform \(platform.rawValue) offers \(wanted); \(there); \(remedy(wanted))"
    }

    private func remedy(_ wanted: OSPin) -> String {
        switch platform {
        case .iosSimulator:
            "install the simulator runtime of exactly this build on a host: "
                + "xcodebuild -downloadPlatform iOS -buildVersion \(wanted.build)"
        case .linuxSimulated:
            "install the simulated runtime \(wanted.version) of exactly this build in a host's folder of runtimes"
        case .iosDevice, .standIn: "attach a device that runs exactly this build to a host"
        }
    }

    /// Differences of the leading numbers, the first one weighing most.
    private static func distance(_ pin: OSPin, _ wanted: OSPin) -> [Int] {
        let (left, right) = (numbers(pin.version), numbers(wanted.version))
        return (0..<max(left.count, right.count)).map { index in
            abs((index < left.count ? left[index] : 0) - (index < right.count ? right[index] : 0))
        }
    }

    private static func numbers(_ version: String) -> [Int] {
        version.split(separator: ".").prefix(4).map { Int($0) ?? 0 }
    }
}
