import BerthSystem
import Foundation
import Synchronization

/// Answers the Security module of apps. Who calls is taken from the kernel, never from the call.
final class KeychainListener: Sendable {
    /// The environment variable that tells an app where the keychain service listens.
    static let variable = "BERTH_SIM_KEYCHAIN"

    private let listener: UnixListener
    /// Nil once the device shuts down.
    private let service: Mutex<KeychainService?>
    private let applications: RunningApplications
    private let faults: KeychainFaults
    private let log = Log(component: "keychain")

    init(folder: DeviceFolder, applications: RunningApplications, faults: KeychainFaults) throws {
        self.faults = faults
        try DurableFile.makeFolder(folder.keychains)
        service = Mutex(try KeychainService(path: folder.keychain))
        listener = try UnixListener(path: folder.keychainSocket)
        self.applications = applications
    }

    /// Serves callers until `shutdown`.
    func run() {
        ConnectionThreads.serve(listener, name: "keychain") { [self] in answer($0) }
    }

    /// Ends serving and closes the database.
    func shutdown() {
        listener.shutdown()
        service.withLock { $0 = nil }
    }

    private func answer(_ connection: SocketConnection) {
        do {
            while let message = try connection.readMessage(limit: KeychainMessage.longest) {
                try connection.writeMessage(KeychainMessage.encode(answer(message, from: connection.peerProcess)))
            }
        } catch {
            log.error("A caller was dropped", ["error": "\(error)"])
        }
    }

    private func answer(_ message: [UInt8], from process: Int32?) -> KeychainService.Answer {
        guard let process, let application = applications.owner(of: process) else {
            log.notice("A stranger was refused", ["pid": "\(process ?? -1)"])
            return KeychainService.Answer(
                status: .notAvailable,
                result: nil,
                notice: "process \(process ?? -1) is no app of this device; start it with `simctl launch`"
            )
        }
        do throws(KeychainFailure) {
            let call = try KeychainMessage.decode(message)
            if let status = faults.strike(call.operation, bundle: application.bundleIdentifier) {
                return KeychainService.Answer(status: status, result: nil, notice: nil)
            }
            let answer = service.withLock { service in
                service?.call(call.operation, query: call.query, changes: call.changes, client: application.client)
            }
            guard let answer else { throw KeychainFailure(.notAvailable, notice: "the device is shutting down") }
            log.debug(
                "Call",
                [
                    "bundle": application.bundleIdentifier, "operation": call.operation,
                    "status": "\(answer.status.rawValue)",
                ]
            )
            return answer
        } catch {
            return KeychainService.Answer(status: error.status, result: nil, notice: error.notice)
        }
    }
}
