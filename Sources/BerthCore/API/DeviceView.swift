/// A device that a slot keeps, as the API shows it.
package struct DeviceView: Sendable, Hashable, Codable {
    package let device: KeptDevice
    package let slot: String
    package let host: String
    package let platform: Platform
    package let model: String
    package let places: SlotPlaces
    /// Since when the slot is not connected, in milliseconds since 1970: what is shown is what was known then. Absent
    /// while it is connected.
    package let offlineSince: Int64?
    /// The latest order to release it, if there was one since the coordinator's start.
    package let release: ReleaseView?

    package init(
        device: KeptDevice,
        slot: String,
        host: String,
        platform: Platform,
        model: String,
        places: SlotPlaces,
        offlineSince: Int64?,
        release: ReleaseView?
    ) {
        self.device = device
        self.slot = slot
        self.host = host
        self.platform = platform
        self.model = model
        self.places = places
        self.offlineSince = offlineSince
        self.release = release
    }
}

/// An order to release a device with what came of it.
package struct ReleaseView: Sendable, Hashable, Codable {
    package enum State: String, Sendable, Codable {
        /// The agent has the order and has not said what came of it.
        case ordered
        case released
        case refused
    }

    /// From 1, for each order of this coordinator's life.
    package let request: UInt64
    package let udid: String
    package let slot: String
    package let by: String
    package let state: State
    /// Why it was refused.
    package let cause: OutcomeCause?

    package init(request: UInt64, udid: String, slot: String, by: String, state: State, cause: OutcomeCause?) {
        self.request = request
        self.udid = udid
        self.slot = slot
        self.by = by
        self.state = state
        self.cause = cause
    }
}

/// Asks for the release of a device.
package struct ReleaseRequestBody: Sendable, Hashable, Codable {
    /// Why a phone that cannot be proved clean shall be used all the same.
    package let unclean: String?

    package init(unclean: String? = nil) {
        self.unclean = unclean
    }
}
