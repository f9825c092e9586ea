/// A kind of device that can be made.
package struct DeviceType: Hashable, Sendable {
    package let identifier: String
    package let name: String

    /// The only one: a phone whose apps are Linux programs.
    package static let linuxPhone = DeviceType(
        identifier: "org.berth.SimDeviceType.Linux-Phone",
        name: "Linux Phone"
    )

    package static let all = [linuxPhone]

    /// The type of this identifier or name.
    static func named(_ name: String) -> DeviceType? {
        all.first { $0.identifier == name || $0.name == name }
    }
}
