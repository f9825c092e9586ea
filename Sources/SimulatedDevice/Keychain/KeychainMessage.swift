import Foundation

/// The messages between an app's Security module and the keychain service: binary property lists.
enum KeychainMessage {
    /// The version of the encoding that this service speaks.
    static let version = 1
    /// Longest message in bytes, in both directions.
    static let longest = 64 << 20

    /// One call as it arrived.
    struct Call {
        let operation: String
        let query: [String: KeychainValue]
        let changes: [String: KeychainValue]?
    }

    /// Reads a call.
    ///
    /// - Throws: `KeychainFailure` with `.notAvailable` for another version, with `.parameter` for a malformed message.
    static func decode(_ bytes: [UInt8]) throws(KeychainFailure) -> Call {
        let list = try? PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        guard let message = list as? [String: Any], let version = message["version"] as? Int else {
            throw KeychainFailure(.parameter, notice: "the device cannot read the call")
        }
        guard version == Self.version else {
            throw KeychainFailure(
                .notAvailable,
                notice:
                    "the app speaks version \(version) of the keychain protocol and the device version \(Self.version)"
            )
        }
        guard let operation = message["operation"] as? String, let query = message["query"] as? NSDictionary else {
            throw KeychainFailure(.parameter, notice: "the device cannot read the call")
        }
        return Call(
            operation: operation,
            query: KeychainValue.entries(query),
            changes: (message["changes"] as? NSDictionary).map(KeychainValue.entries)
        )
    }

    static func encode(_ answer: KeychainService.Answer) throws -> [UInt8] {
        var message: [String: Any] = ["version": version, "status": Int(answer.status.rawValue)]
        if let result = answer.result { message["result"] = result.propertyList }
        if let notice = answer.notice { message["notice"] = notice }
        return Array(try PropertyListSerialization.data(fromPropertyList: message, format: .binary, options: 0))
    }
}
