import BerthCore
import SQLiteDatabase

/// Why the store refused an operation. Nothing of a refused operation is kept.
package enum StoreError: Error, Equatable, CustomStringConvertible {
    /// No build has this ID, prefix or name.
    case unknownBuild(reference: String, known: [String])
    /// Several builds answer to it.
    case ambiguousBuild(reference: String, candidates: [String])
    case unknownCase(name: String, known: [String])
    /// The case's name, or its version under the name, stands for another definition.
    case caseTaken(name: String, problem: String)
    case unknownHost(name: String, known: [String])
    /// A host of this name is already enrolled with other particulars.
    case hostTaken(name: String)
    /// The host's slots hold attempts.
    case hostBusy(host: String, attempts: [String])
    case invalidName(what: String, name: String)
    case unknownSlot(name: String)
    /// Another coordinator, or none, acts on the host now.
    case hostNotHeld(host: String, holder: String?)
    /// The slot's name is in use on another host.
    case slotOfOtherHost(slot: String, host: String)
    /// The agent of a known device shows another signing key than the one pinned at its first hello.
    case agentKeyChanged(slot: String, pinned: String, shown: String)
    /// The highest epoch that an agent reported leaves no room to continue.
    case epochOutOfRange(slot: String, epoch: UInt64)
    case tokenTaken(name: String)
    case unknownToken(name: String, known: [String])
    /// Without this token nobody could operate the farm any more.
    case lastOperator(name: String)
    case unknownBatch(id: String)
    case unknownRun(id: String)
    case invalidSubmission(problem: String)
    /// The key was used before for another submission.
    case idempotencyConflict(key: String, batch: String)
    /// The database was written by a newer version of Berth.
    case newerSchema(path: String, found: Int64, known: Int64)
    /// The disk, quota or size limit of the database is exhausted.
    case storageFull(operation: String)
    /// Stored bytes do not follow their format.
    case damaged(operation: String, problem: String)
    /// The database refused for another reason, in its own words.
    case database(operation: String, problem: String)
    /// The database's server cannot be reached, or does not answer.
    case unreachable(operation: String, problem: String)
    /// The database's server went away over the commit, and could not be asked since what became of it.
    case outcomeUnknown(operation: String, problem: String)
    /// More operations wait than the store lets wait.
    case overloaded(operation: String)
    case closed(operation: String)

    init(_ operation: String, _ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case StoreFailure.full: self = .storageFull(operation: operation)
        case StoreFailure.conflict(let problem): self = .database(operation: operation, problem: problem)
        case StoreFailure.refused(let problem): self = .database(operation: operation, problem: problem)
        case StoreFailure.inDoubt(let problem): self = .outcomeUnknown(operation: operation, problem: problem)
        case StoreFailure.unreachable(let problem): self = .unreachable(operation: operation, problem: problem)
        case let error as DatabaseError: self = .database(operation: operation, problem: "\(error)")
        default: self = .damaged(operation: operation, problem: "\(error)")
        }
    }

    /// A stable word, part of the HTTP interface.
    package var code: String {
        switch self {
        case .unknownBuild: "unknown-build"
        case .ambiguousBuild: "ambiguous-build"
        case .unknownCase: "unknown-case"
        case .caseTaken: "case-taken"
        case .unknownHost: "unknown-host"
        case .hostTaken: "host-taken"
        case .hostBusy: "host-busy"
        case .invalidName: "invalid-name"
        case .unknownSlot: "unknown-slot"
        case .hostNotHeld: "host-not-held"
        case .slotOfOtherHost: "slot-of-other-host"
        case .agentKeyChanged: "agent-key-changed"
        case .epochOutOfRange: "epoch-out-of-range"
        case .tokenTaken: "token-taken"
        case .unknownToken: "unknown-token"
        case .lastOperator: "last-operator"
        case .unknownBatch: "unknown-batch"
        case .unknownRun: "unknown-run"
        case .invalidSubmission: "invalid-submission"
        case .idempotencyConflict: "idempotency-conflict"
        case .newerSchema: "newer-schema"
        case .storageFull: "storage-full"
        case .damaged: "storage-damaged"
        case .database: "storage-failed"
        case .unreachable: "storage-unreachable"
        case .outcomeUnknown: "outcome-unknown"
        case .overloaded: "overloaded"
        case .closed: "storage-closed"
        }
    }

    /// Whether the same operation may work a moment later. Only for operations that may be repeated.
    package var mayPass: Bool {
        switch self {
        case .storageFull, .unreachable, .outcomeUnknown, .overloaded: true
        default: false
        }
    }

    /// Whether it says that an agent may not speak for its slot, or is set up wrongly.
    package var refusesAgent: Bool {
        switch self {
        case .unknownHost, .invalidName, .slotOfOtherHost, .agentKeyChanged, .epochOutOfRange: true
        default: false
        }
    }

    package var description: String {
        switch self {
        case .unknownBuild(let reference, let known):
            "no build is called \(reference.debugDescription); "
                + Self.list(known, "the archive holds", "the archive is empty")
        case .ambiguousBuild(let reference, let candidates):
            "\(reference.debugDescription) could be \(candidates.joined(separator: ", ")): "
                + "give more digits of the one meant"
        case .unknownCase(let name, let known):
            "no case is called \(name.debugDescription); \(Self.list(known, "there are", "there are none"))"
        case .caseTaken(let name, let problem): "the case \(name) cannot be added: \(problem)"
        case .unknownHost(let name, let known):
            "no host is called \(name.debugDescription); \(Self.list(known, "there are", "none is enrolled"))"
        case .hostTaken(let name):
            "a host called \(name) is already enrolled with another address, user or key: choose another name"
        case .hostBusy(let host, let attempts):
            "host \(host) is at work (\(attempts.prefix(20).joined(separator: ", "))): take it out of use with "
                + "`berth host drain \(host) --reason …`, wait until `berth host list` shows none of its slots busy, or cancel "
                + "their runs, then remove it"
        case .invalidName(let what, let name):
            "\(name.debugDescription) cannot name a \(what): use 1 to 64 letters, digits, dots, dashes and underscores"
        case .unknownSlot(let name): "no agent has reported a slot called \(name.debugDescription) yet"
        case .hostNotHeld(let host, let holder):
            "host \(host) is not this coordinator's any more, but \(holder ?? "nobody")'s"
        case .slotOfOtherHost(let slot, let host):
            "slot \(slot) belongs to host \(host): give the slots of different hosts different names"
        case .agentKeyChanged(let slot, let pinned, let shown):
            "the agent of slot \(slot) signs with the key \(shown.prefix(16))…, and \(pinned.prefix(16))… is pinned for its "
                + "device: if its state folder was tampered with, look at the host; if it was set up anew, remove the "
                + "file `identity` there too, so that it counts as a new device"
        case .epochOutOfRange(let slot, let epoch):
            "slot \(slot) reports epoch \(epoch), above which nothing can be counted: its agent's state is damaged"
        case .tokenTaken(let name): "a token called \(name) exists with another value or role: choose another name"
        case .unknownToken(let name, let known):
            "no token is called \(name.prefix(80).debugDescription); \(Self.list(known, "there are", "there are none"))"
        case .lastOperator(let name):
            "\(name) is the last token that may operate the farm: make another operator's token first"
        case .unknownBatch(let id): "there is no batch \(id.debugDescription)"
        case .unknownRun(let id): "there is no run \(id.debugDescription)"
        case .invalidSubmission(let problem): "the submission cannot be accepted: \(problem)"
        case .idempotencyConflict(let key, let batch):
            "the idempotency key \(key.debugDescription) was used for batch \(batch), which asked for something else"
        case .newerSchema(let path, let found, let known):
            "the store \(path) has schema version \(found), and this program knows versions up to \(known): "
                + "use the newer program"
        case .storageFull(let operation):
            "cannot \(operation): the disk of the store is full; nothing was changed, free space and try again"
        case .damaged(let operation, let problem): "cannot \(operation): the store is damaged: \(problem)"
        case .database(let operation, let problem): "cannot \(operation): \(problem)"
        case .unreachable(let operation, let problem):
            "cannot \(operation): the database cannot be reached: \(problem); nothing was changed as far as is known: "
                + "look at its server, then try again"
        case .outcomeUnknown(let operation, let problem):
            "it is not known whether this was done: \(operation): \(problem); look before you try again, or repeat it under "
                + "the same idempotency key"
        case .overloaded(let operation):
            "cannot \(operation): \(WorkQueue.limit) operations wait for the store already: try again later"
        case .closed(let operation): "cannot \(operation): the store is closed"
        }
    }

    private static func list(_ names: [String], _ introduction: String, _ nothing: String) -> String {
        guard !names.isEmpty else { return nothing }
        let more = names.count > 20 ? " and \(names.count - 20) more" : ""
        return "\(introduction) \(names.prefix(20).joined(separator: ", "))\(more)"
    }
}
