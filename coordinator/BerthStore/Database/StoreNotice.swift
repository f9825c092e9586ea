import Foundation

/// What coordinators on one database tell each other after a commit: something changed, look at it.
package enum StoreNotice: Sendable, Hashable {
    /// Runs were queued, or a slot became free: whoever has idle slots may claim.
    case work
    /// A batch was submitted or called off.
    case batch(String)
    /// A run changed.
    case run(String)
    /// A ledger grew; the name of its kind.
    case ledger(String)
    /// Hosts were enrolled or changed.
    case hosts
    /// Attempts of this run are to be called off.
    case cancellation(run: String)
    /// A token was revoked.
    case tokens

    /// One line of text for the database's channel.
    var text: String {
        switch self {
        case .work: "work"
        case .batch(let id): "batch \(id)"
        case .run(let id): "run \(id)"
        case .ledger(let kind): "ledger \(kind)"
        case .hosts: "hosts"
        case .cancellation(let run): "cancellation \(run)"
        case .tokens: "tokens"
        }
    }

    /// Reads the text; nil for the notice of a newer version, which is no concern of this one.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("work", nil): self = .work
        case ("hosts", nil): self = .hosts
        case ("tokens", nil): self = .tokens
        case ("batch", let id?): self = .batch(id)
        case ("run", let id?): self = .run(id)
        case ("ledger", let kind?): self = .ledger(kind)
        case ("cancellation", let run?): self = .cancellation(run: run)
        default: return nil
        }
    }
}
