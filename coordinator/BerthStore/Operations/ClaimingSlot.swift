import BerthCore
import SQLiteDatabase

/// A slot that is to be given a run, with all that the claim asks of it, read at once.
struct ClaimingSlot {
    let name: String
    let host: String
    /// The open attempt that holds it.
    let openAttempt: Int64?
    /// Whether an open attempt, on this slot or another, holds its device.
    let isDeviceHeld: Bool
    /// Whether there are limits at all.
    let mayLimitsApply: Bool
    private let device: String
    private let highestEpoch: Int64
    private let mayBeOutOfUse: Bool
    private let mayBeReserved: Bool
    private let row: DatabaseRow

    /// - Returns: nil for an unknown slot.
    init?(named name: String, _ connection: any StoreConnection) throws {
        guard let row = try connection.firstRow(Self.query, [.text(name)]) else { return nil }
        self.name = name
        self.row = row
        host = try row.text("host")
        device = try row.text("device")
        highestEpoch = try row.integer("highest_epoch")
        openAttempt = try row.optionalInteger("open_attempt")
        isDeviceHeld = try row.optionalInteger("open_on_device") != nil
        mayBeOutOfUse = try row.bool("services")
        mayBeReserved = try row.bool("reservations")
        mayLimitsApply = try row.bool("limits")
    }

    /// How the slot stands to the runs that wait.
    func standing(now: Int64, _ connection: any StoreConnection) throws -> SlotStanding {
        SlotStanding(
            name: name,
            host: host,
            offer: try Store.offer(row, connection.documents),
            services: mayBeOutOfUse ? try Store.services(slot: name, host: host, connection) : [],
            reservations: mayBeReserved ? try Store.reservations(of: name, now: now, connection) : [],
            openAttempt: nil
        )
    }

    /// Takes the next epoch of the device.
    /// - Throws: `StoreFailure.conflict` when somebody else has taken it.
    func raiseEpoch(_ connection: any StoreConnection) throws -> Int64 {
        let raised = try connection.execute(
            "UPDATE device SET highest_epoch = ? WHERE identity = ? AND highest_epoch = ?",
            [.integer(highestEpoch + 1), .text(device), .integer(highestEpoch)]
        )
        guard raised == 1 else { throw StoreFailure.conflict("the epoch of device \(device) was raised") }
        return highestEpoch + 1
    }

    private static let query = """
        SELECT slot.host, slot.device, slot.platform, slot.os_version, slot.os_build, slot.features, slot.labels,
            device.highest_epoch,
            (SELECT number FROM attempt WHERE attempt.slot = slot.name AND state IN ('assigned', 'running')) AS open_attempt,
            (SELECT number FROM attempt WHERE attempt.device = slot.device AND state IN ('assigned', 'running'))
                AS open_on_device,
            CASE WHEN EXISTS (SELECT 1 FROM service_state) THEN 1 ELSE 0 END AS services,
            CASE WHEN EXISTS (SELECT 1 FROM reservation WHERE reservation.slot = slot.name) THEN 1 ELSE 0 END AS reservations,
            CASE WHEN EXISTS (SELECT 1 FROM run_limit) THEN 1 ELSE 0 END AS limits
        FROM slot JOIN device ON device.identity = slot.device WHERE slot.name = ?
        """
}
