import Synchronization

/// What the harness itself could not do, as it happens.
final class Troubles: Sendable {
    private let words = Mutex<[String]>([])

    func note(_ trouble: String) { words.withLock { $0.append(trouble) } }

    var all: [String] { words.withLock { $0 } }
}
