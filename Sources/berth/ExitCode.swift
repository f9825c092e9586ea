/// What the process answers to whoever started it; part of the interface (docs/cli.md).
enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    case blocked = 1
    case incomplete = 2
    case usage = 64
    case badInput = 65
    case missingInput = 66
    case unreachable = 69
    case failure = 70
    case refusedForNow = 75
    case unauthorized = 77

    var meaning: String {
        switch self {
        case .success: "done; for the gate: pass"
        case .blocked: "the gate is blocked; doctor found a problem (only these answer so)"
        case .incomplete: "the gate is incomplete; doctor could not look at everything (only these answer so)"
        case .usage: "the command line is wrong"
        case .badInput: "what was given cannot be used: no app bundle, a damaged file, an unknown name"
        case .missingInput: "a file that was named is not there"
        case .unreachable: "the coordinator cannot be reached"
        case .failure: "any other failure"
        case .refusedForNow: "the coordinator refuses for now: try again later"
        case .unauthorized: "the token is missing, wrong or not allowed to do this"
        }
    }
}
