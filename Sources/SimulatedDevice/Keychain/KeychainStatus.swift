/// The result of a keychain call, with the numbers that apps see.
package struct KeychainStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package static let success = KeychainStatus(rawValue: 0)
    package static let unimplemented = KeychainStatus(rawValue: -4)
    package static let inputOutput = KeychainStatus(rawValue: -36)
    package static let parameter = KeychainStatus(rawValue: -50)
    package static let notAvailable = KeychainStatus(rawValue: -25291)
    package static let duplicateItem = KeychainStatus(rawValue: -25299)
    package static let itemNotFound = KeychainStatus(rawValue: -25300)
    package static let noSuchAttribute = KeychainStatus(rawValue: -25303)
    package static let noSuchClass = KeychainStatus(rawValue: -25306)
    package static let missingEntitlement = KeychainStatus(rawValue: -34018)
    package static let restrictedInterface = KeychainStatus(rawValue: -34020)
}

/// A keychain call that ends with a status other than success.
package struct KeychainFailure: Error, Hashable, CustomStringConvertible {
    package let status: KeychainStatus
    /// A sentence for the app's developer, when the number alone would mislead.
    package let notice: String?

    package init(_ status: KeychainStatus, notice: String? = nil) {
        self.status = status
        self.notice = notice
    }

    /// A call that Apple's keychain would have answered and this one cannot yet.
    static func unsupported(_ what: String) -> KeychainFailure {
        KeychainFailure(.unimplemented, notice: "the simulated device does not support \(what)")
    }

    package var description: String {
        "keychain status \(status.rawValue)\(notice.map { " (\($0))" } ?? "")"
    }
}
