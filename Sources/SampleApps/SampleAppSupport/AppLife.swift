import Foundation
import KeychainMigration

/// What every sample app does as a process, whatever it does with its item.
package enum AppLife {
    /// Keeps SIGTERM and SIGINT for `waitForEnd`. Call it first: threads that start later inherit it.
    package static func begin() {
        var signals = endSignals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Says on standard output whether there is a session. The value itself is never printed.
    package static func announce(_ read: KeychainReadResult) {
        let text =
            switch read {
            case .found: "signed in"
            case .missing: "signed out"
            case .failed(let status): "signed out: the keychain answered OSStatus \(status)"
            }
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Stays alive until the process is asked to end, as an app does, and then exits with 0.
    package static func waitForEnd() -> Never {
        var signals = endSignals
        var received: Int32 = 0
        while sigwait(&signals, &received) != 0 {}
        exit(0)
    }

    private static var endSignals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        return signals
    }
}
