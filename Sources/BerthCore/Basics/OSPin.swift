/// An exact system version of a device.
package struct OSPin: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Such as `18.0`.
    package let version: String
    /// The system's build, such as `22A3351`.
    package let build: String

    package init(version: String, build: String) {
        self.version = version
        self.build = build
    }

    package var description: String { "\(version) (\(build))" }
}
