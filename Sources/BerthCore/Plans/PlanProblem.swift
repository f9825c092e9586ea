/// Something wrong with a plan, at a place such as `paths[0][1]`, `cases[2]`, `os[0]` or `labels.host`; empty for the
/// plan as a whole.
package struct PlanProblem: Sendable, Hashable, Codable {
    package let place: String
    /// A stable word, part of the interface.
    package let code: String
    /// What is wrong, and what would be accepted.
    package let message: String

    package init(place: String, code: String, message: String) {
        self.place = place
        self.code = code
        self.message = message
    }
}
