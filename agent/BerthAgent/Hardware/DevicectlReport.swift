import BerthCore
import BerthSystem
import Foundation

/// The file that `devicectl --json-output` writes when it ends. Versions of the tool differ: everything that is not
/// needed to decide is left alone or optional.
package struct DevicectlReport<Result: Decodable & Sendable>: Decodable, Sendable {
    /// What the tool says about the call.
    package struct Information: Decodable, Sendable {
        /// `success` or `failed`.
        package let outcome: String
        /// The tool's own version.
        package let version: String?
        /// Absent in Xcode 15.0.
        package let jsonVersion: Int?
    }

    package let info: Information
    package let result: Result?
    package let error: DevicectlFailure?
}

/// An error as devicectl writes it, with the errors underneath.
package struct DevicectlFailure: Decodable, Sendable, Hashable {
    package let domain: String
    package let code: Int
    /// Texts of the user information, by key.
    package let texts: [String: String]
    /// The errors directly underneath.
    package let underlying: [DevicectlFailure]

    private enum CodingKeys: String, CodingKey {
        case domain
        case code
        case userInfo
    }

    /// A value of the user information: `{"string": …}`, `{"int": …}`, `{"url": …}`, `{"error": {…}}` and others.
    private struct Wrapped: Decodable {
        let string: String?
        let url: String?
        let int: Int64?
        let error: DevicectlFailure?
        let errors: [DevicectlFailure]?

        private enum CodingKeys: String, CodingKey {
            case string
            case url
            case int
            case error
            case errors
        }

        init(from decoder: any Decoder) throws {
            // A wrapper of a kind that is not known here is passed over.
            let container = try? decoder.container(keyedBy: CodingKeys.self)
            string = try? container?.decode(String.self, forKey: .string)
            url = try? container?.decode(String.self, forKey: .url)
            int = try? container?.decode(Int64.self, forKey: .int)
            error = try? container?.decode(DevicectlFailure.self, forKey: .error)
            errors = try? container?.decode([DevicectlFailure].self, forKey: .errors)
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        domain = try container.decode(String.self, forKey: .domain)
        // Codes of the kernel's kind are written signed or unsigned; both fit 64 bits.
        code = try container.decode(Int.self, forKey: .code)
        let values = (try? container.decode([String: Wrapped].self, forKey: .userInfo)) ?? [:]
        texts = values.compactMapValues { $0.string ?? $0.url ?? $0.int.map(String.init) }
        underlying = values.sorted { $0.key < $1.key }.flatMap {
            ($0.value.error.map { [$0] } ?? []) + ($0.value.errors ?? [])
        }
    }

    /// This error and all underneath, from the top.
    package var chain: [DevicectlFailure] { [self] + underlying.flatMap(\.chain) }

    /// The chain in words, for a person.
    package var words: String {
        let words = chain.prefix(4).map { failure in
            let text = [failure.texts["NSLocalizedDescription"], failure.texts["NSLocalizedFailureReason"]]
            return (text.compactMap { $0 } + ["(\(failure.domain) \(failure.code))"]).joined(separator: " ")
        }
        return String(words.joined(separator: " | ").prefix(800))
    }
}
