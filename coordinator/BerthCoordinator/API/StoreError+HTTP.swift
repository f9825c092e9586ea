import BerthStore

extension StoreError {
    /// The HTTP status of a refusal by the store.
    var httpStatus: Int {
        switch self {
        case .unknownBuild, .unknownCase, .unknownHost, .unknownSlot, .unknownBatch, .unknownRun, .unknownToken: 404
        case .ambiguousBuild, .caseTaken, .hostTaken, .slotOfOtherHost, .tokenTaken, .idempotencyConflict,
            .agentKeyChanged, .hostNotHeld, .hostBusy, .lastOperator:
            409
        case .invalidName, .invalidSubmission, .epochOutOfRange: 422
        case .storageFull: 507
        case .newerSchema, .damaged, .database: 500
        case .closed, .unreachable, .outcomeUnknown, .overloaded: 503
        }
    }
}
