import BerthCore
import SQLiteDatabase

extension Store {
    /// Takes in what an agent says of its slot and device. The device's epoch never goes back.
    /// - Throws: `StoreError.slotOfOtherHost`, `.unknownHost`, `.invalidName`, `.epochOutOfRange`, `.agentKeyChanged`
    package func recordSlot(_ hello: AgentHello, host: String, now: Int64) async throws(StoreError) {
        guard SlotName.isValid(hello.slot) else { throw .invalidName(what: "slot", name: hello.slot) }
        guard hello.highestEpoch < 1 << 62 else {
            throw .epochOutOfRange(slot: hello.slot, epoch: hello.highestEpoch)
        }
        try await change("record slot \(hello.slot)", order: .requirements) { connection in
            guard
                try connection.firstRow("SELECT 1 FROM host WHERE name = ? AND removed_at IS NULL", [.text(host)])
                    != nil
            else {
                throw try Self.unknownHost(host, connection)
            }
            // A removed host's names are free.
            let known = try connection.firstRow(
                "SELECT host FROM slot WHERE name = ? AND \(Self.isOfPresentHost)",
                [.text(hello.slot)]
            )
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
                ON CONFLICT (identity) DO UPDATE SET agent_key = excluded.agent_key,
                    highest_epoch = CASE WHEN device.highest_epoch > excluded.highest_epoch
                        THEN device.highest_epoch ELSE excluded.highest_epoch END
                """,
                [.text(hello.device.identity), .integer(Int64(hello.highestEpoch)), .init(hello.key)]
            )
            try connection.execute(
                """
                INSERT INTO slot (name, host, device, facts, platform, os_version, os_build, features, labels,
                    agent_version, tools, seen_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET host = excluded.host, device = excluded.device, facts = excluded.facts,
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
            try Self.matchClasses(of: hello.slot, connection)
        }
    }

    /// Finds out anew which requirement classes a slot satisfies.
    private static func matchClasses(of slot: String, _ connection: any StoreConnection) throws {
        // A class that another coordinator is just making would be missed.
        try connection.holdExclusively(.requirements)
        try connection.execute("DELETE FROM slot_class WHERE slot = ?", [.text(slot)])
        guard let row = try connection.firstRow("SELECT * FROM slot WHERE name = ?", [.text(slot)]) else { return }
        let offer = try offer(row, connection.documents)
        for row in try connection.rows("SELECT * FROM requirement_class") {
            guard try requirement(row, connection.documents).unmet(by: offer).isEmpty else { continue }
            try connection.execute(
                "INSERT INTO slot_class (slot, class) VALUES (?, ?)",
                [.text(slot), try row.value("number")]
            )
        }
    }

    /// Finds the slots that satisfy a new requirement class.
    static func matchSlots(
        _ requirement: Requirement,
        class number: Int64,
        _ connection: any StoreConnection
    ) throws {
        for row in try connection.rows("SELECT * FROM slot WHERE \(isOfPresentHost)") {
            guard try requirement.unmet(by: offer(row, connection.documents)).isEmpty else { continue }
            try connection.execute(
                "INSERT INTO slot_class (slot, class) VALUES (?, ?)",
                [try row.value("name"), .integer(number)]
            )
        }
    }

    static func offer(_ row: DatabaseRow, _ documents: DecodedDocuments) throws -> SlotOffer {
        SlotOffer(
            platform: try row.word(Platform.self, "platform"),
            os: OSPin(version: try row.text("os_version"), build: try row.text("os_build")),
            features: try row.json([String].self, "features", documents),
            labels: try row.json([String: String].self, "labels", documents)
        )
    }

    static func requirement(_ row: DatabaseRow, _ documents: DecodedDocuments) throws -> Requirement {
        Requirement(
            platform: try row.word(Platform.self, "platform"),
            os: OSPin(version: try row.text("os_version"), build: try row.text("os_build")),
            features: try row.json([String].self, "features", documents),
            labels: try row.json([String: String].self, "labels", documents)
        )
    }

    /// All slots that ever reported themselves, by name.
    package func slots() async throws(StoreError) -> [SlotRecord] {
        try await look("list slots") { connection in
            try connection.rows(
                """
                SELECT slot.*, attempt.number AS open FROM slot
                LEFT JOIN attempt ON attempt.slot = slot.name AND attempt.state IN ('assigned', 'running')
                WHERE \(Self.isOfPresentHost) ORDER BY slot.name
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

    /// What known slots of a platform with these labels offer.
    package func offers(
        platform: Platform,
        labels: [String: String] = [:]
    ) async throws(StoreError) -> [SlotOffer] {
        try await look("list what slots of \(platform.rawValue) offer") { connection in
            let present = "SELECT * FROM slot WHERE platform = ? AND \(Self.isOfPresentHost)"
            return try connection.rows(present, [.text(platform.rawValue)])
                .map { try Self.offer($0, connection.documents) }
                .filter { offer in labels.allSatisfy { offer.labels[$0.key] == $0.value } }
        }
    }

    /// The system versions among what known slots offer, newest first by numeric comparison.
    package func osVersions(platform: Platform, labels: [String: String] = [:]) async throws(StoreError) -> [OSPin] {
        Self.systems(of: try await offers(platform: platform, labels: labels))
    }

    /// The system versions among offers, newest first by numeric comparison.
    package static func systems(of offers: [SlotOffer]) -> [OSPin] {
        Set(offers.map(\.os)).sorted(by: isNewer)
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
