import BerthCore
import BerthSystem
import Foundation

/// What the agent of a slot on this machine has written down of itself (agent/README.md, `slot.json`).
struct LocalSlot: Decodable {
    let places: SlotPlaces

    /// Whether a slot lies on this machine, in the reach of this user. What the coordinator passes on is a host's word:
    /// programs are started here only if the slot's own folder says the same.
    static func isHere(_ places: SlotPlaces) -> Bool {
        guard ProcessInfo.processInfo.hostName == places.machine,
            let bytes = try? DurableFile.read("\(places.state)/slot.json", limit: 1 << 16),
            let local = try? CanonicalJSON.decode(LocalSlot.self, from: bytes, document: "slot.json")
        else { return false }
        return local.places == places
    }
}
