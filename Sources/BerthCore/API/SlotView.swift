/// A slot with what it does now.
package struct SlotView: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Codable {
        case offline
        case idle
        case busy
        /// Connected, but it takes no run until a person has done something; `reason` says what. A slot that is out of
        /// use is held too, with its service state's word as the reason, so that older readers understand it.
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
    /// What takes it out of use, its own state first, then its host's and the farm's; absent if nothing does.
    package let services: [ServiceState]?
    /// That are in force; absent if there are none.
    package let reservations: [Reservation]?

    package init(
        name: String,
        host: String,
        device: DeviceFacts,
        state: State,
        attempt: String?,
        reason: OutcomeCause? = nil,
        kept: Int? = nil,
        places: SlotPlaces? = nil,
        services: [ServiceState]? = nil,
        reservations: [Reservation]? = nil
    ) {
        self.name = name
        self.host = host
        self.device = device
        self.state = state
        self.attempt = attempt
        self.reason = reason
        self.kept = kept
        self.places = places
        self.services = services
        self.reservations = reservations
    }

    /// Its state in a word: what takes it out of use counts more than that it idles, and is added to what it still does.
    package var condition: String {
        guard let service = services?.first?.state.rawValue else { return state.rawValue }
        switch state {
        case .idle, .held: return service
        case .busy, .offline: return "\(state.rawValue),\(service)"
        }
    }
}
