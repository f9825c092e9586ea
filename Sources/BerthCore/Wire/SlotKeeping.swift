/// What an agent keeps for a person and why it takes no attempt, as a whole: each one replaces the one before.
package struct SlotKeeping: Sendable, Hashable, Codable {
    /// What is kept, the one kept longest first.
    package let devices: [KeptDevice]
    /// Why the slot takes no attempt until the next word; absent while it takes some.
    package let refusal: OutcomeCause?
    /// Where the slot lies on its host.
    package let places: SlotPlaces

    package init(devices: [KeptDevice], refusal: OutcomeCause?, places: SlotPlaces) {
        self.devices = devices
        self.refusal = refusal
        self.places = places
    }
}

/// A device that is kept after an attempt.
package struct KeptDevice: Sendable, Hashable, Codable {
    /// Why it is not free.
    package enum Stage: String, Sendable, Codable {
        /// A simulator that is kept until a person releases it.
        case preserved
        /// A phone that is kept for a person, for a set time.
        case held
        /// A phone that is not proved clean.
        case quarantined
        /// A phone that is being cleaned, or about to be.
        case cleaning
    }

    /// The device's UDID.
    package let udid: String
    package let stage: Stage
    package let run: String
    package let attempt: String
    /// The case's name; absent where the agent no longer knows it.
    package let caseName: String?
    /// The bundle ID of the attempt's app.
    package let bundle: String?
    package let outcome: Outcome?
    /// Why it is kept.
    package let cause: OutcomeCause?
    /// The host's wall clock in milliseconds since 1970.
    package let since: Int64
    /// When a held phone is cleaned by itself, or a quarantined one is tried again.
    package let until: Int64?
    /// Bytes on the host's disk, measured when it was put away.
    package let size: Int64?
    /// Why the attempt's evidence is neither on the host's disk nor with the coordinator; absent when it is.
    package let evidence: OutcomeCause?

    package init(
        udid: String,
        stage: Stage,
        run: String,
        attempt: String,
        caseName: String? = nil,
        bundle: String? = nil,
        outcome: Outcome? = nil,
        cause: OutcomeCause? = nil,
        since: Int64,
        until: Int64? = nil,
        size: Int64? = nil,
        evidence: OutcomeCause? = nil
    ) {
        self.udid = udid
        self.stage = stage
        self.run = run
        self.attempt = attempt
        self.caseName = caseName
        self.bundle = bundle
        self.outcome = outcome
        self.cause = cause
        self.since = since
        self.until = until
        self.size = size
        self.evidence = evidence
    }
}

/// Where a slot lies on its host: what a person needs who works there by hand.
package struct SlotPlaces: Sendable, Hashable, Codable {
    package let slot: String
    /// The host's own name.
    package let machine: String
    /// The user that the agent runs as.
    package let user: String
    /// The program `berth-agent`.
    package let agent: String
    /// The slot's state folder.
    package let state: String
    package let xcrun: String
    /// The kernel lock of the slot's device.
    package let lock: String
    /// The private device set; absent for a phone.
    package let deviceSet: String?
    /// The phone; absent for simulators.
    package let phone: String?
    /// Variables that the tool needs on that host.
    package let environment: [String: String]?

    package init(
        slot: String,
        machine: String,
        user: String,
        agent: String,
        state: String,
        xcrun: String,
        lock: String,
        deviceSet: String? = nil,
        phone: String? = nil,
        environment: [String: String]? = nil
    ) {
        self.slot = slot
        self.machine = machine
        self.user = user
        self.agent = agent
        self.state = state
        self.xcrun = xcrun
        self.lock = lock
        self.deviceSet = deviceSet
        self.phone = phone
        self.environment = environment
    }
}

/// An operator's order to an agent to let go of one device. Sent only to agents that say what they keep.
package struct DeviceRelease: Sendable, Hashable, Codable {
    /// Repeated in the answer.
    package let request: UInt64
    package let udid: String
    /// Who orders it, for the agent's log.
    package let by: String
    /// Why a phone that cannot be proved clean shall be used all the same; absent: it shall not.
    package let unclean: String?

    package init(request: UInt64, udid: String, by: String, unclean: String?) {
        self.request = request
        self.udid = udid
        self.by = by
        self.unclean = unclean
    }
}

/// What came of an order to release a device.
package struct DeviceReleased: Sendable, Hashable, Codable {
    package let request: UInt64
    package let udid: String
    /// Why it was refused; absent: the device is released.
    package let refusal: OutcomeCause?

    package init(request: UInt64, udid: String, refusal: OutcomeCause?) {
        self.request = request
        self.udid = udid
        self.refusal = refusal
    }
}
