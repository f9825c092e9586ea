import BerthCore

/// Why a slot takes no run, or only some, in a table's cell.
enum SlotReasonText {
    static func text(_ slot: SlotView) -> String {
        var parts = (slot.services ?? []).map { "\($0) (since \(PlainText.time($0.since)))" }
        // The reason of a slot that is out of use repeats it for older readers.
        let repeated = slot.services?.first.map { OutcomeCause($0.state.rawValue, $0.description) }
        if slot.state == .held, let reason = slot.reason, reason != repeated { parts.append("\(reason)") }
        parts += (slot.reservations ?? []).map(text)
        return parts.joined(separator: "; ")
    }

    static func text(_ reservation: Reservation) -> String {
        "reserved for \(reservation.holder) until \(PlainText.time(reservation.until)) by \(reservation.actor): "
            + "\(reservation.reason) (\(reservation.id))"
    }
}
