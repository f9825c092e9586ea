/// A fault that ends, or may end, the attempt that a device has at that time.
package struct Disturbance: Sendable, Hashable {
    /// What was done.
    package let fault: String
    /// The devices that it reaches.
    package let devices: Set<String>
    /// CLOCK_MONOTONIC, in nanoseconds.
    package let from: Int64
    package let to: Int64
    /// It ends what it meets at once; other faults only when they last.
    package let isFatal: Bool

    package init(_ fault: String, devices: Set<String>, from: Int64, to: Int64, isFatal: Bool) {
        self.fault = fault
        self.devices = devices
        self.from = from
        self.to = to
        self.isFatal = isFatal
    }
}
