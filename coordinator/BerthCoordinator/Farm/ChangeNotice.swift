/// Says that something changed, not how: who is told looks it up.
package struct ChangeNotice: Sendable, Hashable {
    /// What a notice is about.
    package enum Topic: String, Sendable, Hashable {
        /// Submitted, or called off.
        case batch
        /// State, verdict, or the step of its attempt.
        case run
        /// Joined, left, took or ended an attempt, or its attempt came to another step.
        case slot
        /// Enrolled, connected or cut off.
        case host
        /// Grew.
        case ledger
    }

    /// A thing that changes.
    package struct Subject: Sendable, Hashable {
        package let topic: Topic
        /// Its ID or name.
        package let name: String

        package init(_ topic: Topic, _ name: String) {
            self.topic = topic
            self.name = name
        }
    }

    /// From 1, growing with every change of this coordinator's life.
    package let number: UInt64
    package let subject: Subject

    package init(number: UInt64, subject: Subject) {
        self.number = number
        self.subject = subject
    }
}
