/// What came of cancelling all that a submitter has.
package struct SubmitterCancellation: Sendable, Hashable, Codable {
    package let submitter: String
    /// Runs that had no end yet.
    package let runs: Int
    /// Of them, those that an agent has to end first.
    package let ending: Int

    package init(submitter: String, runs: Int, ending: Int) {
        self.submitter = submitter
        self.runs = runs
        self.ending = ending
    }
}
