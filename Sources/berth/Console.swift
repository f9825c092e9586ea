import BerthSystem
import Foundation

/// The terminal, pipe or file that a command talks to.
struct Console: Sendable {
    /// What standard output is.
    struct Size: Equatable, Sendable {
        let columns: Int
        let rows: Int
    }

    let write: @Sendable (String) -> Void
    let writeError: @Sendable (String) -> Void
    /// The next line that a person types; nil at the end of input or when nobody can be asked.
    let readLine: @Sendable () -> String?
    /// The terminal's size now; nil when the output is no terminal.
    let terminal: @Sendable () -> Size?

    /// The process's own streams.
    static let standard = Console(
        write: { StandardStreams.writeOutput($0) },
        writeError: { StandardStreams.writeError($0) },
        readLine: { isatty(0) == 1 ? Swift.readLine() : nil },
        terminal: {
            guard isatty(1) == 1 else { return nil }
            var size = winsize()
            guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
                return Size(columns: 80, rows: 24)
            }
            return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
        }
    )
}
