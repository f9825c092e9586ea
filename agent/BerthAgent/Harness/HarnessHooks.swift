import BerthSystem
import Foundation

/// What the fault harness may break in an agent, to show that it notices. All of it comes from environment variables
/// (bench/README.md), which an agent refuses unless `BERTH_FAULT_HARNESS=1` says that it works for the harness.
package struct HarnessHooks: Sendable, Hashable {
    /// The agent works for the harness: only then are devices of kind `stand-in` driven.
    package private(set) var isHarness = false
    /// Neither the device's lock nor epochs, terms and journaled processes hold the agent back.
    package private(set) var ignoresFencing = false
    /// How long before the lease's end the attempt must be over, in percent of the lease; negative: after it.
    package private(set) var leaseMargin = 20
    /// How long each app runs on a stand-in device, in seconds; nil: as the device likes.
    package private(set) var dwell: Int?
    /// The disk and the clock that the agent works with.
    private var seams = HarnessSeams()

    private static let log = Log(component: "harness")

    /// Reads the variables.
    /// - Throws: `AgentFailure` of status `usage` for a hook outside a harness, an unknown one, or a bad value
    package init(_ environment: [String: String]) throws {
        isHarness = HarnessSeams.isHarness(environment)
        for (name, value) in HarnessSeams.hooks(environment) {
            guard isHarness else {
                throw AgentFailure(
                    .usage,
                    "BERTH_HOOK_\(name) is set, which breaks an agent on purpose: it is for the fault harness alone; "
                        + "unset it"
                )
            }
            switch name {
            case "NO_FENCING": ignoresFencing = value == "1"
            case "LEASE_MARGIN":
                guard let percent = Int(value), (-1000...90).contains(percent) else {
                    throw AgentFailure(.usage, "BERTH_HOOK_\(name)=\(value): a percentage from -1000 to 90")
                }
                leaseMargin = percent
            case "DWELL":
                guard let seconds = Int(value), (0...86_400).contains(seconds) else {
                    throw AgentFailure(.usage, "BERTH_HOOK_\(name)=\(value): seconds from 0 to 86400")
                }
                dwell = seconds
            default:
                guard seams.take(name, value) else {
                    throw AgentFailure(.usage, "BERTH_HOOK_\(name) is no hook of this agent")
                }
            }
        }
    }

    /// Puts disk and clock in place, and says loudly what is broken.
    /// - Throws: `SystemError`
    func begin() throws {
        guard isHarness else { return }
        try seams.begin()
        Self.log.error("THIS AGENT WORKS FOR THE FAULT HARNESS: its results prove nothing", [:])
        if ignoresFencing { Self.log.error("BROKEN ON PURPOSE: locks and epochs are ignored", [:]) }
        if leaseMargin < 0 { Self.log.error("BROKEN ON PURPOSE: attempts outlive their leases", [:]) }
        if seams.skipsSync { Self.log.error("BROKEN ON PURPOSE: the journal is not synchronised", [:]) }
    }
}
