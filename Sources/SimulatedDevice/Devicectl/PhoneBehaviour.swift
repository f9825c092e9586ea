import BerthSystem
import Foundation

/// Switches for tests: what `behaviour.json` in a phone's folder says. Without the file a phone is well.
///
///     {"locked": true, "hang": ["device info files"], "json": {"device install app": "partial"}}
struct PhoneBehaviour: Decodable {
    /// What becomes of the JSON file of a verb that did its work.
    enum Report: String, Decodable {
        /// It is not written.
        case missing
        /// It is written without content.
        case empty
        /// It is cut off in the middle.
        case partial
    }

    /// What the installer answers.
    struct Refusal: Decodable {
        let domain: String
        let code: Int
        let text: String
    }

    /// Not connected.
    var absent: Bool?
    var unpaired: Bool?
    /// Nothing can be launched.
    var locked: Bool?
    var developerModeOff: Bool?
    /// The developer disk image cannot be mounted.
    var noDeveloperImage: Bool?
    /// The version that is told instead of the runtime's.
    var system: String?
    /// Seconds that every verb takes longer.
    var delay: Double?
    /// Verbs that never come back, such as `device info files`.
    var hang: [String]?
    /// By verb.
    var json: [String: Report]?
    /// Verbs whose next call fails as on a fresh tunnel.
    var tunnelErrorOnce: [String]?
    var refuseInstall: Refusal?

    /// Reads a phone's file.
    ///
    /// - Throws: `DecodingError`, `SystemError`
    static func of(_ phone: Phone) throws -> PhoneBehaviour {
        do {
            let bytes = try DurableFile.read(phone.behaviourFile, limit: 1 << 20)
            return try JSONDecoder().decode(PhoneBehaviour.self, from: Data(bytes))
        } catch let error as SystemError where error.code == ENOENT {
            return PhoneBehaviour()
        }
    }

    /// Whether this call of a verb meets a fresh tunnel's error: the first one after the file was written does.
    func takesTunnelError(_ verb: String, _ phone: Phone) -> Bool {
        guard tunnelErrorOnce?.contains(verb) == true else { return false }
        let mark = "\(phone.path)/tunnel-error-\(verb.replacingOccurrences(of: " ", with: "-"))"
        let number = open(mark, O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else { return false }
        close(number)
        return true
    }
}
