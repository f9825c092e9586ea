import BerthCore
import BerthSystem
import SQLiteDatabase

extension Store {
    /// Queues the runs of a submission.
    ///
    /// - Returns: the batch, and whether this call made it. The same key with the same content gives the same batch.
    /// - Throws: `StoreError.idempotencyConflict`, `.invalidSubmission`, `.unknownBuild`, `.unknownCase`
    package func submit(_ op: SubmitOp) throws(StoreError) -> (batch: BatchView, isNew: Bool) {
        if let problem = op.problem { throw .invalidSubmission(problem: problem) }
        return try change("submit a batch") { connection in
            let content = try (op.content ?? Self.contentDigest(op)).hex
            if let key = op.idempotencyKey, let known = try Self.batch(submitter: op.submitter, key: key, connection) {
                let id = RecordID.batch.text(known.number)
                guard known.content == content else { throw StoreError.idempotencyConflict(key: key, batch: id) }
                return (try Self.batchView(known.number, connection), false)
            }
            try connection.execute(
                """
                INSERT INTO batch (submitter, idempotency_key, content, name, replay, submitted_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(op.submitter), .init(op.idempotencyKey), .text(content), .init(op.name),
                    try op.replay.map { try .json($0) } ?? .null, .integer(op.now),
                ]
            )
            let batch = connection.lastInsertedRow
            for run in op.runs {
                let pins = try Self.enter(run.pins, connection)
                let definition = try Self.caseDefinition(run.pins, connection)
                let requirement = try Self.requirementClass(run, features: definition.features, connection)
                for _ in 0..<run.repeats {
                    try connection.execute(
                        """
                        INSERT INTO run (batch, pins, class, priority, replays, submitted_at)
                        VALUES (?, ?, ?, ?, ?, ?)
                        """,
                        [
                            .integer(batch), .integer(pins), .integer(requirement), .integer(Int64(op.priority)),
                            .init(run.replays.flatMap(RecordID.run.number)), .integer(op.now),
                        ]
                    )
                }
            }
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
        _ connection: DatabaseConnection
    ) throws -> (number: Int64, content: String)? {
        try connection.firstRow(
            "SELECT number, content FROM batch WHERE submitter = ? AND idempotency_key = ?",
            [.text(submitter), .text(key)]
        ).map { (try $0.integer("number"), try $0.text("content")) }
    }

    /// The number of equal pins, entered now if they are new.
    private static func enter(_ pins: Pins, _ connection: DatabaseConnection) throws -> Int64 {
        let bytes = try DatabaseValue.json(pins)
        if let known = try connection.firstRow("SELECT number FROM pins WHERE bytes = ?", [bytes]) {
            return try known.integer("number")
        }
        _ = try caseDefinition(pins, connection)
        try connection.execute(
            "INSERT INTO pins (bytes, case_hex) VALUES (?, ?)",
            [bytes, .text(pins.caseDigest.hex)]
        )
        let number = connection.lastInsertedRow
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

    static func caseDefinition(_ pins: Pins, _ connection: DatabaseConnection) throws -> CaseDefinition {
        let row = try connection.firstRow(
            "SELECT definition FROM case_definition WHERE hex = ?",
            [.text(pins.caseDigest.hex)]
        )
        guard let row else { throw StoreError.unknownCase(name: "\(pins.caseName) \(pins.caseDigest)", known: []) }
        return try row.json(CaseDefinition.self, "definition")
    }

    /// The class of all runs that demand the same of a slot, made now if it is new.
    private static func requirementClass(
        _ run: SubmittedRun,
        features: [String],
        _ connection: DatabaseConnection
    ) throws -> Int64 {
        let values: [DatabaseValue] = [
            .text(run.pins.platform.rawValue), .text(run.pins.os.version), .text(run.pins.os.build),
            try .json(Set(features).sorted()), try .json(run.labels),
        ]
        let known = try connection.firstRow(
            """
            SELECT number FROM requirement_class
            WHERE platform = ? AND os_version = ? AND os_build = ? AND features = ? AND labels = ?
            """,
            values
        )
        if let known { return try known.integer("number") }
        try connection.execute(
            "INSERT INTO requirement_class (platform, os_version, os_build, features, labels) VALUES (?, ?, ?, ?, ?)",
            values
        )
        let number = connection.lastInsertedRow
        try connection.execute(matchClasses + " AND class.number = ?", [.integer(number)])
        return number
    }
}
