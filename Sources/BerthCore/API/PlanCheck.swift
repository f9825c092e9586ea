/// What a plan would queue now, or what is wrong with it.
package struct PlanCheck: Sendable, Hashable, Codable {
    /// One for each combination; each is queued as often as the plan repeats it.
    package let pins: [Pins]
    package let repeats: Int
    /// What the submitter should look at.
    package let warnings: [String]
    /// Empty when the plan could be submitted.
    package let problems: [PlanProblem]

    package init(pins: [Pins], repeats: Int, warnings: [String], problems: [PlanProblem]) {
        self.pins = pins
        self.repeats = repeats
        self.warnings = warnings
        self.problems = problems
    }
}
