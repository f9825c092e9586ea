import BerthCore
import SQLiteDatabase

extension Store {
    /// Takes in what an agent says of its slot and device. The device's epoch never goes back.
    /// - Throws: `StoreError.slotOfOtherHost`, `.unknownHost`, `.invalidName`, `.epochOutOfRange`, `.agentKeyChanged`
    package func recordSlot(_ hello: AgentHello, host: String, now: Int64) throws(StoreError) {
        guard SlotName.isValid(hello.slot) else { throw .invalidName(what: "slot", name: hello.slot) }
        guard hello.highestEpoch < 1 << 62 else {
            throw .epochOutOfRange(slot: hello.slot, epoch: hello.highestEpoch)
        }
        try change("record slot \(hello.slot)") { connection in
            guard try connection.firstRow("SELECT 1 FROM host WHERE name = ?", [.text(host)]) != nil else {
                throw try Self.unknownHost(host, connection)
            }
            let known = try connection.firstRow("SELECT host FROM slot WHERE name = ?", [.text(hello.slot)])
            if let owner = try known?.text("host"), owner != host {
                throw StoreError.slotOfOtherHost(slot: hello.slot, host: owner)
            }
            let device = try connection.firstRow(
                "SELECT agent_key FROM device WHERE identity = ?",
                [.text(hello.device.identity)]
            )
            if let pinned = try device?.optionalText("agent_key"), pinned != hello.key {
                throw StoreError.agentKeyChanged(slot: hello.slot, pinned: pinned, shown: hello.key ?? "none")
            }
            try connection.execute(
                """
                INSERT INTO device (identity, highest_epoch, agent_key) VALUES (?, ?, ?)
                ON CONFLICT (identity) DO UPDATE SET highest_epoch = max(highest_epoch, excluded.highest_epoch),
                    agent_key = excluded.agent_key
                """,
                [.text(hello.device.identity), .integer(Int64(hello.highestEpoch)), .init(hello.key)]
            )
            try connection.execute(
                """
                INSERT INTO slot (name, host, device, facts, platform, os_version, os_build, features, labels,
                    agent_version, tools, seen_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET device = excluded.device, facts = excluded.facts,
                    platform = excluded.platform, os_version = excluded.os_version, os_build = excluded.os_build,
                    features = excluded.features, labels = excluded.labels, agent_version = excluded.agent_version, tools = excluded.tools,
                    seen_at = excluded.seen_at
                """,
                [
                    .text(hello.slot), .text(host), .text(hello.device.identity), .json(hello.device),
                    .text(hello.device.platform.rawValue), .text(hello.device.os.version),
                    .text(hello.device.os.build), .json(hello.features),
                    .json(SlotLabel.labels(of: hello.slot, host: host, device: hello.device)),
                    .text(hello.agentVersion), .json(hello.tools), .integer(now),
                ]
            )
            try connection.execute("DELETE FROM slot_class WHERE slot = ?", [.text(hello.slot)])
            try connection.execute(Self.matchClasses + " AND slot.name = ?", [.text(hello.slot)])
        }
    }

    /// Which slots satisfy which requirement classes; further conditions may follow.
    static let matchClasses = """
        INSERT INTO slot_class (slot, class)
        SELECT slot.name, class.number FROM slot JOIN requirement_class AS class
            ON class.platform = slot.platform AND class.os_version = slot.os_version AND class.os_build = slot.os_build
        WHERE NOT EXISTS (
            SELECT 1 FROM json_each(class.features) AS needed
            WHERE needed.value NOT IN (SELECT offered.value FROM json_each(slot.features) AS offered))
        AND NOT EXISTS (
            SELECT 1 FROM json_each(class.labels) AS needed
            WHERE needed.value IS NOT (
                SELECT offered.value FROM json_each(slot.labels) AS offered WHERE offered.key = needed.key))
        """

    /// All slots that ever reported themselves, by name.
    package func slots() throws(StoreError) -> [SlotRecord] {
        try look("list slots") { connection in
            try connection.rows(
                """
                SELECT slot.*, attempt.number AS open FROM slot
                LEFT JOIN attempt ON attempt.slot = slot.name AND attempt.state IN ('assigned', 'running')
                ORDER BY slot.name
                """
            ).map { row in
                SlotRecord(
                    name: try row.text("name"),
                    host: try row.text("host"),
                    device: try row.json(DeviceFacts.self, "facts"),
                    features: try row.json([String].self, "features"),
                    agentVersion: try row.text("agent_version"),
                    openAttempt: try row.optionalInteger("open").map(RecordID.attempt.text)
                )
            }
        }
    }

    /// The system versions that known slots of a platform with these labels offer, newest first by numeric comparison.
    package func osVersions(platform: Platform, labels: [String: String] = [:]) throws(StoreError) -> [OSPin] {
        try look("list system versions of \(platform.rawValue)") { connection in
            try connection.rows(
                """
                SELECT DISTINCT os_version, os_build FROM slot WHERE platform = ? AND NOT EXISTS (
                    SELECT 1 FROM json_each(?) AS needed WHERE needed.value IS NOT (
                        SELECT offered.value FROM json_each(slot.labels) AS offered WHERE offered.key = needed.key))
                """,
                [.text(platform.rawValue), .json(labels)]
            ).map { OSPin(version: try $0.text("os_version"), build: try $0.text("os_build")) }
        }.sorted(by: Self.isNewer)
    }

    private static func isNewer(_ left: OSPin, _ right: OSPin) -> Bool {
        switch (VersionNumber(left.version), VersionNumber(right.version)) {
        case (let left?, let right?) where left != right: left > right
        case (.some, nil): true
        case (nil, .some): false
        default: left.build > right.build
        }
    }
}
