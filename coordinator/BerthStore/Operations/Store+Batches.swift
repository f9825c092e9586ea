import BerthCore
import BerthSystem
import SQLiteDatabase

extension Store {
    /// Queues the runs of a submission.
    ///
    /// - Returns: the batch, and whether this call made it. The same key with the same content gives the same batch.
    /// - Throws: `StoreError.idempotencyConflict`, `.invalidSubmission`, `.unknownBuild`, `.unknownCase`
    package func submit(_ op: SubmitOp) async throws(StoreError) -> (batch: BatchView, isNew: Bool) {
        if let problem = op.problem { throw .invalidSubmission(problem: problem) }
        return try await change("submit a batch", order: .requirements) { connection in
            let content = try (op.content ?? Self.contentDigest(op)).hex
            if let key = op.idempotencyKey, let known = try Self.batch(submitter: op.submitter, key: key, connection) {
                let id = RecordID.batch.text(known.number)
                guard known.content == content else { throw StoreError.idempotencyConflict(key: key, batch: id) }
                return (try Self.batchView(known.number, connection), false)
            }
            // Not asked of a repeat, which may come late.
            if let deadline = op.deadline, deadline <= op.now {
                throw StoreError.invalidSubmission(problem: "its deadline has passed already: choose a later one")
            }
            let batch = try connection.insert(
                """
                INSERT INTO batch (submitter, idempotency_key, content, name, replay, deadline, submitted_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(op.submitter), .init(op.idempotencyKey), .text(content), .init(op.name),
                    try op.replay.map { try .json($0) } ?? .null, .init(op.deadline), .integer(op.now),
                ]
            )
            for run in op.runs {
                let pins = try Self.enter(run.pins, connection)
                let definition = try Self.caseDefinition(run.pins, connection)
                let requirement = try Self.requirementClass(run, features: definition.features, connection)
                let lane = try Self.lane(requirement, submitter: op.submitter, priority: op.priority, connection)
                try connection.execute(
                    """
                    WITH RECURSIVE repeat (number) AS (
                        SELECT 1 UNION ALL SELECT number + 1 FROM repeat WHERE number < ?)
                    INSERT INTO run (batch, pins, class, priority, replays, submitted_at, lane)
                    SELECT CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT),
                        CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT) FROM repeat
                    """,
                    [
                        .init(run.repeats), .integer(batch), .integer(pins), .integer(requirement),
                        .integer(Int64(op.priority)), .init(run.replays.flatMap(RecordID.run.number)),
                        .integer(op.now), .integer(lane),
                    ]
                )
                // Nobody asked for a health check's path.
                guard op.submitter != Eligibility.healthCheckSubmitter else { continue }
                try connection.execute(
                    "UPDATE pins SET latest_run = (SELECT max(number) FROM run WHERE batch = ?) WHERE number = ?",
                    [.integer(batch), .integer(pins)]
                )
            }
            try connection.announce(.batch(RecordID.batch.text(batch)))
            try connection.announce(.work)
            return (try Self.batchView(batch, connection), true)
        }
    }

    private struct SubmittedContent: Encodable {
        let runs: [SubmittedRun]
        let name: String?
        let priority: Int
    }

    private static func contentDigest(_ op: SubmitOp) throws -> Digest {
        let content = SubmittedContent(runs: op.runs, name: op.name, priority: op.priority)
        return Digest(bytes: SHA256.digest(of: try CanonicalJSON.encode(content)))
    }

    private static func batch(
        submitter: String,
        key: String,
        _ connection: any StoreConnection
    ) throws -> (number: Int64, content: String)? {
        try connection.firstRow(
            "SELECT number, content FROM batch WHERE submitter = ? AND idempotency_key = ?",
            [.text(submitter), .text(key)]
        ).map { (try $0.integer("number"), try $0.text("content")) }
    }

    /// The number of equal pins, entered now if they are new.
    private static func enter(_ pins: Pins, _ connection: any StoreConnection) throws -> Int64 {
        let bytes = try DatabaseValue.json(pins)
        if let known = try connection.firstRow("SELECT number FROM pins WHERE bytes = ?", [bytes]) {
            return try known.integer("number")
        }
        _ = try caseDefinition(pins, connection)
        let number = try connection.insert(
            "INSERT INTO pins (bytes, case_hex) VALUES (?, ?)",
            [bytes, .text(pins.caseDigest.hex)]
        )
        for (position, build) in pins.path.enumerated() {
            guard try connection.firstRow("SELECT 1 FROM build WHERE hex = ?", [.text(build.hex)]) != nil else {
                throw StoreError.unknownBuild(reference: build.description, known: [])
            }
            try connection.execute(
                "INSERT INTO pinned_build (pins, position, hex) VALUES (?, ?, ?)",
                [.integer(number), .init(position), .text(build.hex)]
            )
        }
        return number
    }

    static func caseDefinition(_ pins: Pins, _ connection: any StoreConnection) throws -> CaseDefinition {
        let row = try connection.firstRow(
            "SELECT definition FROM case_definition WHERE hex = ?",
            [.text(pins.caseDigest.hex)]
        )
        guard let row else { throw StoreError.unknownCase(name: "\(pins.caseName) \(pins.caseDigest)", known: []) }
        return try row.json(CaseDefinition.self, "definition")
    }

    /// Where runs of one class, submitter and priority wait. A submitter who had no work waiting joins the others where
    /// they are now: time in which nothing was asked for is no credit.
    private static func lane(
        _ requirement: Int64,
        submitter: String,
        priority: Int,
        _ connection: any StoreConnection
    ) throws -> Int64 {
        let waits = try connection.firstRow(
            "SELECT 1 FROM lane WHERE submitter = ? AND waiting > 0 LIMIT 1",
            [.text(submitter)]
        )
        if waits == nil {
            try connection.execute(
                """
                INSERT INTO submitter_share (submitter, served)
                SELECT CAST(? AS TEXT), coalesce(min(share.served), 0) FROM submitter_share AS share
                WHERE share.submitter <> ? AND EXISTS (
                    SELECT 1 FROM lane JOIN slot_class ON slot_class.class = lane.class
                    WHERE lane.submitter = share.submitter AND lane.waiting > 0)
                ON CONFLICT (submitter) DO UPDATE SET served =
                    CASE WHEN submitter_share.served > excluded.served
                    THEN submitter_share.served ELSE excluded.served END
                """,
                [.text(submitter), .text(Eligibility.healthCheckSubmitter)]
            )
        }
        let values: [DatabaseValue] = [.integer(requirement), .text(submitter), .integer(Int64(priority))]
        let lookup = "SELECT number FROM lane WHERE class = ? AND submitter = ? AND priority = ?"
        if let known = try connection.firstRow(lookup, values) { return try known.integer(0) }
        return try connection.insert("INSERT INTO lane (class, submitter, priority) VALUES (?, ?, ?)", values)
    }

    /// The class of all runs that demand the same of a slot, made now if it is new.
    private static func requirementClass(
        _ run: SubmittedRun,
        features: [String],
        _ connection: any StoreConnection
    ) throws -> Int64 {
        let requirement = Requirement(
            platform: run.pins.platform,
            os: run.pins.os,
            features: features,
            labels: run.labels
        )
        let values: [DatabaseValue] = [
            .text(requirement.platform.rawValue), .text(requirement.os.version), .text(requirement.os.build),
            try .json(requirement.features), try .json(requirement.labels),
        ]
        let lookup = """
            SELECT number FROM requirement_class
            WHERE platform = ? AND os_version = ? AND os_build = ? AND features = ? AND labels = ?
            """
        if let known = try connection.firstRow(lookup, values) { return try known.integer(0) }
        try connection.holdExclusively(.requirements)
        if let known = try connection.firstRow(lookup, values) { return try known.integer(0) }
        let number = try connection.insert(
            "INSERT INTO requirement_class (platform, os_version, os_build, features, labels) VALUES (?, ?, ?, ?, ?)",
            values
        )
        try matchSlots(requirement, class: number, connection)
        return number
    }
}
