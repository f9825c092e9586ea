/// Something wrong at one place of a text that a person wrote.
package struct DocumentProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package let position: DocumentPosition
    /// What is wrong, and what would be accepted.
    package let message: String

    package init(_ position: DocumentPosition, _ message: String) {
        self.position = position
        self.message = message
    }

    package var description: String { "\(position): \(message)" }
}

/// All that is wrong with a text, in its order.
package struct DocumentProblems: Error, Sendable, Hashable, CustomStringConvertible {
    package let problems: [DocumentProblem]

    package init(_ problems: [DocumentProblem]) {
        self.problems = problems.sorted { $0.position < $1.position }
    }

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
