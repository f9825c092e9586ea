/// Checks a ledger from its stored bytes alone.
package enum LedgerChain {
    /// What is wrong with a chain, and where.
    package struct Break: Error, Hashable, CustomStringConvertible {
        package let sequence: Int64
        package let problem: String

        package var description: String { "the ledger is broken at entry \(sequence): \(problem)" }
    }

    /// Follows the chain from its first entry.
    /// - Parameters:
    ///   - entries: the canonical bytes, in order.
    ///   - ledger: which of the two they are said to be.
    ///   - digest: SHA-256.
    ///   - isSigned: whether a signature over some bytes is valid; absent: signatures are not looked at.
    /// - Returns: the head.
    /// - Throws: `Break`
    package static func verify(
        _ entries: [[UInt8]],
        of ledger: DeviceKind,
        digest: ([UInt8]) -> Digest,
        isSigned: ((AgentSignature, [UInt8]) -> Bool)? = nil
    ) throws(Break) -> LedgerHead {
        var previous = LedgerEntry.beginning
        var deciding: Set<String> = []
        var attempts: Set<String> = []
        for (index, bytes) in entries.enumerated() {
            let sequence = Int64(index) + 1
            let entry: LedgerEntry
            let again: [UInt8]
            let statement: [UInt8]
            do {
                entry = try CanonicalJSON.decode(LedgerEntry.self, from: bytes, document: "ledger entry \(sequence)")
                again = try CanonicalJSON.encode(entry)
                statement = try CanonicalJSON.encode(AttemptStatement(entry))
            } catch {
                throw Break(sequence: sequence, problem: "\(error)")
            }
            guard entry.format == 1, again == bytes else {
                throw Break(sequence: sequence, problem: "its bytes are not canonical for format 1")
            }
            guard entry.ledger == ledger, entry.sequence == sequence else {
                throw Break(
                    sequence: sequence,
                    problem: "it calls itself entry \(entry.sequence) of the \(entry.ledger) ledger"
                )
            }
            guard entry.pins.kind == ledger else {
                throw Break(
                    sequence: sequence,
                    problem: "a result of platform \(entry.pins.platform.rawValue) stands in the \(ledger) ledger"
                )
            }
            guard entry.previous == previous else {
                throw Break(
                    sequence: sequence,
                    problem: "it names \(entry.previous) as the entry before, which is \(previous)"
                )
            }
            guard attempts.insert(entry.attempt).inserted else {
                throw Break(sequence: sequence, problem: "attempt \(entry.attempt) is recorded a second time")
            }
            guard !entry.deciding || deciding.insert(entry.run).inserted else {
                throw Break(sequence: sequence, problem: "run \(entry.run) is decided a second time")
            }
            if let isSigned {
                if let signature = entry.signature {
                    guard isSigned(signature, statement) else {
                        throw Break(
                            sequence: sequence,
                            problem: "the agent's signature does not fit what the entry says"
                        )
                    }
                } else if entry.deciding {
                    throw Break(sequence: sequence, problem: "it decides its run and no agent has signed it")
                }
            }
            previous = digest(bytes)
        }
        return LedgerHead(ledger: ledger, length: Int64(entries.count), head: previous)
    }
}
