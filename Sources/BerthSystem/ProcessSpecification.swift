/// What to start and with what.
package struct ProcessSpecification: Sendable {
    /// Where one of the three standard streams leads.
    package enum Stream: Sendable, Hashable {
        /// `/dev/null`
        case null
        /// An open descriptor of this process, which stays the caller's.
        case descriptor(Int32)
        /// A file, emptied first when written.
        case file(String)
        /// A file that is written at its end.
        case appendingFile(String)
    }

    /// Absolute path of the program.
    package var executable: String
    /// Arguments without the program's name.
    package var arguments: [String]
    /// The name that the program sees as its own; nil: its path.
    package var argumentZero: String?
    /// The whole environment; nothing is inherited.
    package var environment: [String: String]
    /// Nil: this process's own.
    package var workingDirectory: String?
    package var standardInput: Stream
    package var standardOutput: Stream
    package var standardError: Stream
    /// Descriptors that the child keeps under their numbers; all others are closed in it.
    package var inheritedDescriptors: [Int32]
    /// A new session (for daemons) instead of only a process group of its own.
    package var newSession: Bool

    package init(
        executable: String,
        arguments: [String] = [],
        argumentZero: String? = nil,
        environment: [String: String] = [:],
        workingDirectory: String? = nil,
        standardInput: Stream = .null,
        standardOutput: Stream = .null,
        standardError: Stream = .null,
        inheritedDescriptors: [Int32] = [],
        newSession: Bool = false
    ) {
        self.executable = executable
        self.arguments = arguments
        self.argumentZero = argumentZero
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.standardInput = standardInput
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.inheritedDescriptors = inheritedDescriptors
        self.newSession = newSession
    }
}
