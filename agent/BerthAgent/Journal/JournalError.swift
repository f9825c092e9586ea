/// A journal that cannot be trusted or written. The file is kept as it is.
package enum JournalError: Error, Hashable, CustomStringConvertible {
    /// A whole line is not what was written.
    case damaged(path: String, line: Int, problem: String)
    /// It is longer than a journal can become.
    case oversized(path: String)
    /// A record cannot be written, and why.
    case unwritable(path: String, trouble: DiskTrouble)

    /// Whether the file's content is to blame, not the disk's state.
    package var isDamage: Bool {
        if case .unwritable = self { false } else { true }
    }

    package var description: String {
        switch self {
        case .damaged(let path, let line, let problem):
            "the journal \(path) is damaged at line \(line): \(problem). It is kept as it is: look at it, then move it "
                + "away; the agent then starts without memory and the coordinator continues above the epochs it knows"
        case .unwritable(let path, let trouble):
            "the journal \(path) cannot be written: \(trouble.problem). Nothing is begun that is not journaled: "
                + trouble.remedy
        case .oversized(let path):
            "the journal \(path) is larger than \(Journal.readLimit) bytes; no agent writes that much. Move it away"
        }
    }
}
