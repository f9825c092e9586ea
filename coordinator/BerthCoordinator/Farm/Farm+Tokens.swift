import BerthCore
import BerthStore
import BerthSystem

extension Farm {
    /// Ends the event streams whose tokens are worthless by now, whoever revoked them.
    nonisolated func endStreamsOfRevokedTokens() async {
        do {
            for token in changes.readers where try await store.tokenName(hash: token) == nil { changes.end(token) }
        } catch {
            // They are looked at again at intervals.
            log.error("Cannot look whether the tokens of event streams are still good", ["problem": "\(error)"])
        }
    }
}
