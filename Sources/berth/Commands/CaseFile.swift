import BerthCore
import BerthSystem

/// A user's case file, read and checked.
struct CaseFile: Sendable {
    /// Longest file that is read, in bytes.
    private static let limit = 1 << 20

    let bytes: [UInt8]
    let definition: CaseDefinition

    /// - Throws: `FormatError` with file, line and what there could be; `SystemError`
    init(path: String) throws {
        bytes = try DurableFile.read(path, limit: Self.limit)
        definition = try CaseDefinition.parse(bytes, document: path)
    }
}

extension CaseDefinition {
    /// One line about what the case is.
    var summary: String {
        let needs = features.isEmpty ? "" : "; needs slots with \(features.joined(separator: ", "))"
        return "\(name), version \(version): \(steps.count) steps, decides "
            + checks.map(\.text).joined(separator: ", ") + needs
    }
}
