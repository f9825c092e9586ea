/// What a build says about itself: read from the bundle when it is archived, shown to people and matched by the gate.
package struct BuildDescription: Sendable, Hashable, Codable {
    /// The bundle's name without `.app`.
    package let name: String
    package let bundleIdentifier: String
    /// `CFBundleShortVersionString`
    package let version: String
    /// `CFBundleVersion`
    package let number: String
    /// The platform that its executable is made for.
    package let platform: Platform
    /// `MinimumOSVersion`, if given.
    package let minimumOS: String?
    /// The executable's path in the bundle.
    package let executable: String

    package init(
        name: String,
        bundleIdentifier: String,
        version: String,
        number: String,
        platform: Platform,
        minimumOS: String?,
        executable: String
    ) {
        self.name = name
        self.bundleIdentifier = bundleIdentifier
        self.version = version
        self.number = number
        self.platform = platform
        self.minimumOS = minimumOS
        self.executable = executable
    }
}
