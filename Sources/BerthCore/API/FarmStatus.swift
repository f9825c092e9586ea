/// The farm at a glance.
package struct FarmStatus: Sendable, Hashable, Codable {
    package let version: String
    package let coordinator: String
    package let hosts: [HostView]
    package let queued: Int
    package let running: Int
    /// When the run was submitted that has waited longest, in milliseconds since 1970; absent when none waits.
    package let oldestQueuedAt: Int64?
    /// All parts of the farm that are out of use; absent from older coordinators.
    package let services: [ServiceState]?

    package init(
        version: String,
        coordinator: String,
        hosts: [HostView],
        queued: Int,
        running: Int,
        oldestQueuedAt: Int64? = nil,
        services: [ServiceState]? = nil
    ) {
        self.version = version
        self.coordinator = coordinator
        self.hosts = hosts
        self.queued = queued
        self.running = running
        self.oldestQueuedAt = oldestQueuedAt
        self.services = services
    }
}
