/// Unpredictable bytes from the system's generator.
package enum RandomBytes {
    /// `count` bytes.
    package static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
