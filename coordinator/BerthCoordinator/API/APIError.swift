import BerthArchive
import BerthCore
import BerthHosts
import BerthStore
import BerthSystem

/// A refusal of the API: the one place where errors become HTTP statuses.
struct APIError: Error {
    let status: Int
    let body: ErrorBody

    init(_ status: Int, _ code: String, _ message: String, problems: [PlanProblem]? = nil) {
        self.status = status
        body = ErrorBody(code: code, message: message, problems: problems)
    }

    /// What an error of the parts below means to a caller.
    init(_ error: any Error) {
        switch error {
        case let error as APIError: self = error
        case let error as StoreError: self.init(error.httpStatus, error.code, "\(error)")
        case let error as FormatError: self.init(400, "malformed-body", "\(error)")
        case let error as ArchiveError:
            self.init(error.isCallersFault ? 422 : 500, error.code, "\(error)")
        case let error as DeviceError:
            switch error {
            case .unknown: self.init(404, "unknown-device", "\(error)")
            case .heldElsewhere: self.init(409, "held-elsewhere", "\(error)")
            case .slotOffline: self.init(503, "slot-offline", "\(error)")
            }
        case let error as SSHError: self.init(502, "host-unreachable", "\(error)")
        case let error as SystemError where error.isDiskFull:
            self.init(
                507,
                "disk-full",
                "the coordinator's disk is full: \(error); nothing was stored, free space and try again"
            )
        default: self.init(500, "internal", "\(error)")
        }
    }
}

extension ArchiveError {
    /// Whether what was sent is wrong, rather than what is stored.
    fileprivate var isCallersFault: Bool {
        switch self {
        case .notABundle, .unsupportedEntry, .infoPlist, .executable, .wrongSize, .missingBlob, .digestMismatch,
            .gap:
            true
        case .damagedBlob, .damagedPack: false
        }
    }
}
