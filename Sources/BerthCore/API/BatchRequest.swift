/// What a submission asks for: every new build with the old one, on every case.
package struct BatchRequest: Sendable, Hashable, Codable {
    /// ID, unambiguous prefix of it (at least 6 digits), or name.
    package let old: String
    /// The build between the old and each new one; nil for paths of two builds.
    package let transitional: String?
    package let new: [String]
    /// Names of cases.
    package let cases: [String]
    package let platform: Platform
    /// An exact version, or `latest`: resolved to what the farm's slots offer when the batch is submitted.
    package let os: String
    /// From 1.
    package let repeats: Int
    /// Higher goes first.
    package let priority: Int
    /// When what has no end yet expires: what `Deadline` reads.
    package let deadline: String?

    package init(
        old: String,
        transitional: String? = nil,
        new: [String],
        cases: [String],
        platform: Platform,
        os: String,
        repeats: Int,
        priority: Int,
        deadline: String? = nil
    ) {
        self.old = old
        self.transitional = transitional
        self.new = new
        self.cases = cases
        self.platform = platform
        self.os = os
        self.repeats = repeats
        self.priority = priority
        self.deadline = deadline
    }

    /// The same as a plan.
    package var plan: Plan {
        Plan(
            paths: new.map { [old, transitional, $0].compactMap(\.self) },
            cases: cases,
            os: [os],
            platforms: [platform],
            repeats: repeats,
            priority: priority,
            deadline: deadline
        )
    }
}
