/// The farm at a glance.
package struct FarmStatus: Sendable, Hashable, Codable {
    package let version: String
    package let coordinator: String
    package let hosts: [HostView]
    package let queued: Int
    package let running: Int

    package init(version: String, coordinator: String, hosts: [HostView], queued: Int, running: Int) {
        self.version = version
        self.coordinator = coordinator
        self.hosts = hosts
        self.queued = queued
        self.running = running
    }
}
