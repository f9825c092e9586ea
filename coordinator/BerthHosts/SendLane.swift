/// The two lanes of a channel: control messages overtake queued bulk messages.
package enum SendLane: Sendable, Hashable {
    case control
    case bulk
}
