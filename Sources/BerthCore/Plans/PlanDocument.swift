/// A plan with the place in its file of everything that may turn out wrong later.
package struct PlanDocument: Sendable, Hashable {
    package let plan: Plan
    /// By the places of `PlanProblem`.
    private let places: [String: DocumentPosition]
    private let start: DocumentPosition

    /// Reads a plan file.
    /// - Throws: `DocumentProblems`, all that are found.
    package init(_ root: DocumentNode) throws(DocumentProblems) {
        var reading = PlanReading()
        let plan = reading.read(root)
        start = root.position
        places = reading.places
        guard let plan, reading.problems.isEmpty else { throw DocumentProblems(reading.problems) }
        self.plan = plan
        let problems = plan.problems
        guard problems.isEmpty else { throw DocumentProblems(problems.map(locate)) }
    }

    /// Where in the file a problem lies that the coordinator found.
    package func locate(_ problem: PlanProblem) -> DocumentProblem {
        var place = problem.place
        while !place.isEmpty {
            if let position = places[place] { return DocumentProblem(position, problem.message) }
            // The next larger thing that has a position.
            place = String(place.dropLast())
        }
        return DocumentProblem(start, problem.message)
    }
}
