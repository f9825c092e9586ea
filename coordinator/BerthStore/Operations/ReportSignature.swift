import BerthCore
import BerthSystem

/// Whether an agent has signed what it reports.
enum ReportSignature {
    /// True when the report carries a valid signature by this public key (64 hexadecimal digits).
    static func isValid(_ report: AttemptReport, by publicKey: String) -> Bool {
        guard let signature = report.signature, signature.key == publicKey, let key = Hex.decode(signature.key),
            let bytes = Hex.decode(signature.signature),
            let statement = try? CanonicalJSON.encode(AttemptStatement(report))
        else { return false }
        return SigningKey.isValid(bytes, of: statement, publicBytes: key)
    }
}
