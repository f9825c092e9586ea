import BerthCore
import BerthSystem
import Foundation

/// The key with which an agent signs its reports: made at its first start, in a file that only its user reads.
enum AgentKey {
    /// Reads the key of a state folder, or makes it.
    /// - Throws: `FormatError` for a damaged file, which is kept, `SystemError`
    static func load(state: String) throws -> SigningKey {
        let path = state + "/signing-key"
        guard access(path, F_OK) == 0 else {
            let key = try SigningKey.make()
            try DurableFile.replace(path, with: Array("\(Hex.encode(key.privateBytes))\n".utf8))
            return key
        }
        let text = String(decoding: try DurableFile.read(path, limit: 256), as: UTF8.self)
        guard let bytes = Hex.decode(text.trimmingCharacters(in: .whitespacesAndNewlines)),
            let key = try? SigningKey(privateBytes: bytes)
        else {
            throw FormatError(
                document: path,
                problem: "it must hold the 64 hexadecimal digits of a key; move it away to make a new one"
            )
        }
        return key
    }

    /// A report with the agent's signature over what it states.
    /// - Throws: `SigningKey.Failure`, `EncodingError`
    static func sign(_ report: AttemptReport, with key: SigningKey) throws -> AttemptReport {
        let signature = try key.sign(try CanonicalJSON.encode(AttemptStatement(report)))
        return report.with(AgentSignature(key: Hex.encode(key.publicBytes), signature: Hex.encode(signature)))
    }
}
