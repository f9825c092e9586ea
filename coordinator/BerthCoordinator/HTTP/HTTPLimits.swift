/// Bounds of an HTTP server.
package struct HTTPLimits: Sendable {
    /// The most bytes that a request's body may have, by method and raw path; above it the answer is 413.
    package var maxBodyBytes: @Sendable (_ method: String, _ path: String) -> Int
    /// The most bytes of request line and headers; above it the answer is 431 or 414.
    package var maxHeaderBytes: Int
    /// Connections at one time; more wait until one ends.
    package var maxConnections: Int
    /// A connection on which nothing moves for this long is closed, unless a handler is at work for it.
    package var idleTimeout: Duration
    /// How long `stop()` waits for running handlers and their answers.
    package var stopTimeout: Duration
    /// How often an idle `text/event-stream` answer gets a comment line, by which a client that left is noticed.
    package var eventStreamKeepalive: Duration

    package init(
        maxBodyBytes: @escaping @Sendable (_ method: String, _ path: String) -> Int = { _, _ in 1 << 20 },
        maxHeaderBytes: Int = 32 << 10,
        maxConnections: Int = 1000,
        idleTimeout: Duration = .seconds(60),
        stopTimeout: Duration = .seconds(10),
        eventStreamKeepalive: Duration = .seconds(10)
    ) {
        self.maxBodyBytes = maxBodyBytes
        self.maxHeaderBytes = maxHeaderBytes
        self.maxConnections = maxConnections
        self.idleTimeout = idleTimeout
        self.stopTimeout = stopTimeout
        self.eventStreamKeepalive = eventStreamKeepalive
    }
}
