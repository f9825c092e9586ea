/// How many connections may be logging in at once.
package struct LoginLimits: Sendable, Hashable {
    /// To one address. A stock sshd (MaxStartups 10:30:100) begins to drop connections at random when ten are not yet
    /// authenticated; those of other people count too.
    package var perAddress: Int
    /// In the whole farm.
    package var total: Int

    /// Values below 1 are raised to 1.
    package init(perAddress: Int = 4, total: Int = 64) {
        self.perAddress = max(1, perAddress)
        self.total = max(1, total)
    }
}
