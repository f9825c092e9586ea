import Foundation

/// Signals of a daemon.
package enum Signals {
    /// A write to a closed pipe or socket becomes an error instead of the process's end.
    package static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// The signals that ask for an orderly end, as they arrive. Register before work starts.
    package static func endRequests() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        let sources = [SIGTERM, SIGINT].map { number in
            #if !os(Linux)
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
        let held = SignalSources(sources)
        continuation.onTermination = { _ in held.cancel() }
        return stream
    }
}

/// Keeps signal sources alive until they are cancelled.
/// Safe to share: the array never changes, and Dispatch allows `cancel` from any thread.
private final class SignalSources: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    init(_ sources: [any DispatchSourceSignal]) {
        self.sources = sources
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
