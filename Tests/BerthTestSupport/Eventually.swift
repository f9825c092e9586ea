/// An event that did not come.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let description: String
}

/// Suspends until a condition holds that nobody announces, looking every few milliseconds.
/// - Parameters:
///   - event: what is waited for, for the error.
///   - limit: when to give up.
///   - condition: true when it has come.
/// - Throws: `WaitedInVain`, or what the condition throws.
package func eventually(
    _ event: String,
    within limit: Duration = .seconds(60),
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw WaitedInVain(description: "waited in vain until \(event)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
