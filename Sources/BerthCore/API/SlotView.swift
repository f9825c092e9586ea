/// A slot with what it does now.
package struct SlotView: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Codable {
        case offline
        case idle
        case busy
    }

    package let name: String
    package let host: String
    package let device: DeviceFacts
    package let state: State
    /// The open attempt.
    package let attempt: String?

    package init(name: String, host: String, device: DeviceFacts, state: State, attempt: String?) {
        self.name = name
        self.host = host
        self.device = device
        self.state = state
        self.attempt = attempt
    }
}
