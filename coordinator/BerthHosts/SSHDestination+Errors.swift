import BerthSystem
import Foundation

extension SSHDestination {
    /// The operator's error for a failure while a connection is being opened.
    func error(for failure: LibSSH2Failure, stage: SSHError.Stage, login: SSHLogin?) -> SSHError {
        if case .agent(let signer)? = login?.credential, let error = signer.failure { return error }
        switch failure.kind {
        case .connectionEnded:
            return .disconnected(host: host, port: port, stage: stage, reason: failure.connectionReason)
        case .noCommonMethod where stage == .exchangingKeys:
            let algorithms = login.map { [$0.pinnedHostKey.algorithm] } ?? HostKey.supportedAlgorithms
            return .hostKeyTypeUnsupported(host: host, port: port, algorithm: algorithms.joined(separator: ", "))
        case .authenticationRefused:
            guard let login else { break }
            return .authenticationRefused(
                host: host,
                port: port,
                user: login.user,
                identityFile: login.credential.place,
                fingerprint: login.credential.fingerprint
            )
        case .keyUnusable:
            guard let login else { break }
            return .keyUnreadable(path: login.credential.place, reason: failure.message)
        case .channelRefused:
            return .channelRefused(host: host, port: port, reason: failure.message)
        case .misuse, .noCommonMethod, .other:
            break
        }
        return .protocolFailure(host: host, port: port, stage: stage, code: failure.code, message: failure.message)
    }

    /// The operator's error for a socket that failed while a connection is being opened.
    func disconnected(_ error: SystemError, stage: SSHError.Stage) -> SSHError {
        .disconnected(host: host, port: port, stage: stage, reason: String(cString: strerror(error.code)))
    }
}

extension SSHChannelEnd.Cause {
    init(_ error: SystemError) {
        self = error.code == ETIMEDOUT ? .deadPeer : .connectionLost(String(cString: strerror(error.code)))
    }

    init(_ failure: LibSSH2Failure) {
        guard failure.kind == .connectionEnded else {
            self = .protocolFailure(code: failure.code, message: failure.message)
            return
        }
        self = failure.systemCode == ETIMEDOUT ? .deadPeer : .connectionLost(failure.connectionReason)
    }
}

extension LibSSH2Failure {
    /// Why the connection ended, in the system's words where it gave any.
    var connectionReason: String {
        switch systemCode {
        case 0, EAGAIN: "the host closed the connection"
        default: String(cString: strerror(systemCode))
        }
    }
}
