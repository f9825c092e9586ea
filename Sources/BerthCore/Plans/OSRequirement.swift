/// Which system versions a plan accepts. It is resolved to one exact version when the plan is submitted.
package struct OSRequirement: Sendable, Hashable {
    private enum Comparison: String, CaseIterable {
        // The longer spellings come first, since they begin with the shorter ones.
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"

        func holds(_ version: VersionNumber, _ bound: VersionNumber) -> Bool {
            switch self {
            case .atLeast: version >= bound
            case .atMost: version <= bound
            case .above: version > bound
            case .below: version < bound
            }
        }
    }

    private struct Bound: Sendable, Hashable {
        let comparison: Comparison
        let version: VersionNumber
    }

    private enum Demand: Sendable, Hashable {
        case latest
        /// A version such as `18.0`, or a system's build such as `22A3351`.
        case exact(String)
        case range([Bound])
    }

    /// As written.
    package let text: String
    private let demand: Demand

    /// What a text must look like, for messages.
    package static let accepted =
        "an exact version such as 18.0, a system's build such as 22A3351, a range such as \">=18.0 <19\", or latest"

    /// Reads the written form; nil for anything else.
    package init?(_ text: String) {
        self.text = text
        let words = text.split(separator: " ").map(String.init)
        if words == ["latest"] {
            demand = .latest
            return
        }
        guard let first = words.first else { return nil }
        guard Comparison.allCases.contains(where: { first.hasPrefix($0.rawValue) }) else {
            let isWord = first.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                    || byte == 46
            }
            // A name without any digit is a misspelt word, not a version.
            guard words.count == 1, isWord, first.utf8.contains(where: { (48...57).contains($0) }) else { return nil }
            demand = .exact(first)
            return
        }
        var bounds: [Bound] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            guard let comparison = Comparison.allCases.first(where: { word.hasPrefix($0.rawValue) }) else { return nil }
            let attached = word.dropFirst(comparison.rawValue.count)
            guard let version = VersionNumber(attached.isEmpty ? rest.popFirst() ?? "" : String(attached)) else {
                return nil
            }
            bounds.append(Bound(comparison: comparison, version: version))
        }
        demand = .range(bounds)
    }

    /// The newest that fits of offered versions, which are given newest first; nil if none does.
    package func resolve(_ offered: [OSPin]) -> OSPin? { offered.first(where: fits) }

    private func fits(_ pin: OSPin) -> Bool {
        switch demand {
        case .latest: return true
        case .exact(let text):
            if pin.version == text || pin.build == text { return true }
            guard let wanted = VersionNumber(text) else { return false }
            return VersionNumber(pin.version) == wanted
        case .range(let bounds):
            guard let version = VersionNumber(pin.version) else { return false }
            return bounds.allSatisfy { $0.comparison.holds(version, $0.version) }
        }
    }
}
