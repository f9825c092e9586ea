/// What is wrong with an executable or with the entitlements in it.
package enum CodeSignatureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file does not begin as a Mach-O or universal file does.
    case notMachO
    /// A kind of file that is not read here.
    case unsupported(offset: UInt64, problem: String)
    /// The bytes at `offset` of the file contradict the format.
    case malformed(offset: UInt64, problem: String)

    package var description: String {
        switch self {
        case .notMachO: "it is no Mach-O file: its first bytes are none that one begins with"
        case .unsupported(let offset, let problem): "at offset \(offset): \(problem), which is not read here"
        case .malformed(let offset, let problem): "malformed at offset \(offset): \(problem)"
        }
    }
}
