/// Unpredictable bytes from the system's generator.
package enum RandomBytes {
    /// `count` bytes.
    package static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        // The system is asked for eight at a time, since each time costs.
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        bytes.removeLast(bytes.count - max(0, count))
        return bytes
    }
}
