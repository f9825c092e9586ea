/// What must not change in the course of an attempt but by the case's own steps.
package struct ContinuityFacts: Sendable, Hashable {
    /// What the probe keeps in the data container between launches.
    package struct ProbeTrace: Sendable, Hashable {
        /// The number of its last launch, nil without one.
        package let launch: Int?
        /// The epoch that a seed left.
        package let epoch: UInt64?

        package init(launch: Int?, epoch: UInt64?) {
            self.launch = launch
            self.epoch = epoch
        }
    }

    /// New with every boot of the device.
    package var bootID: String
    /// Identity of the app's data container.
    package var dataContainer: String
    package let os: OSPin
    /// Identity of the installation, new with every one; nil where the device tool does not say.
    package var appContainer: String?
    /// Nil where the data container cannot be looked into.
    package var trace: ProbeTrace?

    package init(
        bootID: String,
        dataContainer: String,
        os: OSPin,
        appContainer: String? = nil,
        trace: ProbeTrace? = nil
    ) {
        self.bootID = bootID
        self.dataContainer = dataContainer
        self.os = os
        self.appContainer = appContainer
        self.trace = trace
    }

    /// How the device differs from what it has to be, or nil.
    func deviation(from expected: ContinuityFacts) -> OutcomeCause? {
        if bootID != expected.bootID {
            return OutcomeCause("continuity-boot", "the device was booted anew, which no step of the case did")
        }
        if os != expected.os {
            return OutcomeCause("continuity-os", "the system changed from \(expected.os) to \(os) during the attempt")
        }
        if dataContainer != expected.dataContainer {
            return OutcomeCause(
                "continuity-container",
                "the app's data container was replaced, so it was uninstalled, which no step of the case did"
            )
        }
        if let appContainer, let known = expected.appContainer, appContainer != known {
            return OutcomeCause("continuity-installation", "the app was installed anew, which no step of the case did")
        }
        return nil
    }
}
