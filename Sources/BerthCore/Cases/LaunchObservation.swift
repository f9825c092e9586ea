/// What came of a launch: the status file that was awaited, or why there is none that counts.
package enum LaunchObservation: Sendable, Hashable {
    /// A well-formed status file; whether it is this attempt's is judged by `AttemptEvaluation`.
    case status(StatusFile)
    /// The process ended without a status file: exit status or signal in words.
    case ended(String)
    /// It ran on, without a status file, until the time limit.
    case hung(seconds: Int)
    /// A status file that does not follow its format.
    case malformed(FormatError)
    /// A status file over the size limit, in bytes.
    case oversized(Int64)
    /// The status file was written under another launch number or phase than the launch asked for.
    case unexpectedName(String)

    /// A word for the outcome's cause.
    var code: String {
        switch self {
        case .status: "status"
        case .ended: "crashed"
        case .hung: "hung"
        case .malformed: "status-malformed"
        case .oversized: "status-oversized"
        case .unexpectedName: "status-foreign"
        }
    }

    /// What happened, in words.
    var words: String {
        switch self {
        case .status: "it wrote a status file"
        case .ended(let how): "it ended (\(how)) without a status file"
        case .hung(let seconds): "it wrote no status file within \(seconds) s"
        case .malformed(let error): "\(error)"
        case .oversized(let size): "its status file has \(size) bytes; at most \(StatusFile.sizeLimit) are read"
        case .unexpectedName(let name): "it wrote the status file \(name), which is not the one of this launch"
        }
    }
}
