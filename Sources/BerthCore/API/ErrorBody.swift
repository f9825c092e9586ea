/// What the API answers when it refuses.
package struct ErrorBody: Sendable, Hashable, Codable, Error, CustomStringConvertible {
    package struct Detail: Sendable, Hashable, Codable {
        /// A stable word, part of the interface.
        package let code: String
        /// What was wrong, where, and what to do.
        package let message: String
        /// For a plan: what is wrong at which place of it.
        package let problems: [PlanProblem]?
    }

    package let error: Detail

    package init(code: String, message: String, problems: [PlanProblem]? = nil) {
        error = Detail(code: code, message: message, problems: problems)
    }

    package var description: String { "\(error.message) [\(error.code)]" }
}
