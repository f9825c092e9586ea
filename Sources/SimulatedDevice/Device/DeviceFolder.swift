/// Where everything of one device lies.
package struct DeviceFolder: Hashable, Sendable {
    /// The device's folder in its set.
    package let path: String

    package init(path: String) {
        self.path = path
    }

    package var record: String { "\(path)/device.plist" }
    /// Held while the record, the containers or the state of a device that is not booted are changed.
    var lock: String { "\(path)/device.lock" }
    /// Held by the supervisor for as long as it lives.
    var supervisorLock: String { "\(path)/supervisor.lock" }
    /// Where the supervisor answers simctl.
    package var controlSocket: String { "\(path)/control.socket" }
    /// Where the supervisor answers the Security module of apps.
    package var keychainSocket: String { "\(path)/keychain.socket" }
    package var logs: String { "\(path)/logs" }
    package var supervisorLog: String { "\(path)/logs/supervisor.log" }
    package var data: String { "\(path)/data" }
    var bundles: String { "\(data)/Containers/Bundle/Application" }
    var dataContainers: String { "\(data)/Containers/Data/Application" }
    var keychains: String { "\(data)/Library/Keychains" }
    package var keychain: String { "\(keychains)/keychain-2-debug.db" }
    /// Which apps are installed and where: the commit point of installations.
    var applications: String { "\(data)/Library/Applications.plist" }
}
