/// A slot with what it does now.
package struct SlotView: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Codable {
        case offline
        case idle
        case busy
        /// Connected, but it takes no run until a person has done something; `reason` says what.
        case held
    }

    package let name: String
    package let host: String
    package let device: DeviceFacts
    package let state: State
    /// The open attempt.
    package let attempt: String?
    /// Why it takes no run, such as `preserved-budget-full`, `device-held`, `quarantined` or `manual-work`.
    package let reason: OutcomeCause?
    /// How many devices it keeps after failures; absent when its agent has not said.
    package let kept: Int?
    /// Where it lies on its host; absent when its agent has not said.
    package let places: SlotPlaces?

    package init(
        name: String,
        host: String,
        device: DeviceFacts,
        state: State,
        attempt: String?,
        reason: OutcomeCause? = nil,
        kept: Int? = nil,
        places: SlotPlaces? = nil
    ) {
        self.name = name
        self.host = host
        self.device = device
        self.state = state
        self.attempt = attempt
        self.reason = reason
        self.kept = kept
        self.places = places
    }
}
