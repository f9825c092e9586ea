import Foundation

/// What a launch of the probe came to.
public struct ProbeOutcome: Sendable {
    /// Where the status file lies; nil when there is none.
    public var statusFile: URL?
    /// The code that the app has to exit with; nil when the status file was written, whatever it says. Then the app
    /// stays alive until it is ended, as an app does.
    public var exitCode: Int32?

    /// No status file could be written (`EX_IOERR`).
    public static let cannotWriteStatusFile: Int32 = 74
    /// The arguments do not say which phase is wanted (`EX_USAGE`).
    public static let noPhase: Int32 = 64
}
