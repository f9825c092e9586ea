import Foundation
import Synchronization

/// Sends one call to the keychain service of the booted device, over a socket that the device named in the
/// environment when it started this app.
enum KeychainConnection {
    /// The environment variable with the path of the keychain service's socket.
    static let variable = "BERTH_SIM_KEYCHAIN"

    /// What has been said on standard error, so that it is said once.
    private static let said = Mutex<Set<String>>([])

    /// Sends the call and waits for the answer. Safe on any thread; each call has a connection of its own.
    static func call(_ operation: String, query: NSDictionary, changes: NSDictionary? = nil) -> KeychainAnswer {
        guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty else {
            return unavailable("no simulated device started this process")
        }
        do {
            let request = try KeychainMessage.encode(operation: operation, query: query, changes: changes)
            let socket = try ServiceSocket(path: path)
            try socket.send(request)
            guard let answer = try KeychainMessage.decode(socket.receive(limit: KeychainMessage.longest)) else {
                return unavailable("the device's answer cannot be read")
            }
            if let notice = answer.notice { say("Security: \(notice)") }
            return answer
        } catch {
            return unavailable("\(error)")
        }
    }

    private static func unavailable(_ reason: String) -> KeychainAnswer {
        say(
            "Security: no keychain is available (\(reason)). Install this program as an app on a booted simulated "
                + "device and start it with `berth-sim simctl launch`."
        )
        return KeychainAnswer(status: errSecNotAvailable, result: nil, notice: nil)
    }

    private static func say(_ line: String) {
        guard said.withLock({ $0.insert(line).inserted }) else { return }
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
