import BerthSystem
import Foundation
import SQLiteDatabase

/// Puts the fault harness's disk and clock under a coordinator.
package enum CoordinatorHarness {
    /// A hook that this coordinator does not follow.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads the environment, and does what it says; outside the harness it must say nothing.
    /// - Throws: `Refusal`, `SystemError`, `DatabaseError`
    package static func begin(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        var seams = HarnessSeams()
        let isHarness = HarnessSeams.isHarness(environment)
        for (name, value) in HarnessSeams.hooks(environment) {
            guard isHarness else {
                throw Refusal(
                    description: "BERTH_HOOK_\(name) is set, which breaks a coordinator on purpose: it is for the "
                        + "fault harness alone; unset it"
                )
            }
            guard seams.take(name, value) else {
                throw Refusal(description: "BERTH_HOOK_\(name) is no hook of a coordinator")
            }
        }
        guard isHarness else { return }
        try seams.begin()
        if seams.notes != nil { try LossyFiles.begin(skipsSync: seams.skipsSync) }
        let log = Log(component: "harness")
        log.error("THIS COORDINATOR WORKS FOR THE FAULT HARNESS", [:])
        if seams.skipsSync { log.error("BROKEN ON PURPOSE: the store is not synchronised", [:]) }
    }
}
