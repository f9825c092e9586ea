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
    /// Absent for builds that were archived before signatures were read.
    package let signing: BuildSigning?

    package init(
        name: String,
        bundleIdentifier: String,
        version: String,
        number: String,
        platform: Platform,
        minimumOS: String?,
        executable: String,
        signing: BuildSigning? = nil
    ) {
        self.name = name
        self.bundleIdentifier = bundleIdentifier
        self.version = version
        self.number = number
        self.platform = platform
        self.minimumOS = minimumOS
        self.executable = executable
        self.signing = signing
    }
}
