import Foundation
import Security

/// Sorts everything that a build can see in the keychain into this attempt's items, other attempts' and bystanders.
struct CensusTaker {
    var store: KeychainItemStore
    var suffix: String

    /// Lists what is visible. The census is nil when `status` is a failure.
    func take() -> (status: OSStatus, census: StatusFile.Census?) {
        let (status, items) = store.listAttributes()
        guard let items else { return (status, nil) }
        var census = StatusFile.Census(ownSuffix: 0, otherSuffixes: 0, bystanders: 0, bystandersDigest: "")
        var bystanders: [String] = []
        for item in items {
            switch Self.attemptSuffix(of: item) {
            case suffix: census.ownSuffix += 1
            case .some: census.otherSuffixes += 1
            case nil: bystanders.append(Self.line(for: item))
            }
        }
        census.bystanders = bystanders.count
        census.bystandersDigest = SHA256.name(of: bystanders.sorted().joined(separator: "\n").utf8)
        return (status, census)
    }

    /// The suffix of an attempt's item: `-` and 16 hexadecimal digits, the same at the end of service and account.
    private static func attemptSuffix(of item: StoredAttributes) -> String? {
        guard let service = item.text(kSecAttrService), let account = item.text(kSecAttrAccount) else { return nil }
        let suffix = service.suffix(17)
        guard suffix.utf8.count == 17, suffix.utf8.first == UInt8(ascii: "-"), account.hasSuffix(suffix),
            suffix.utf8.dropFirst().allSatisfy({ Hexadecimal.value($0) != nil })
        else { return nil }
        return String(suffix)
    }

    /// One line of lower-case hexadecimal fields and decimal numbers, so that no attribute can imitate another.
    ///
    /// The dates are in it because a write that leaves all other attributes as they were still shows in them.
    /// A synchronised item changes by itself, from other devices: its dates are left out.
    private static func line(for item: StoredAttributes) -> String {
        let texts = [kSecAttrService, kSecAttrAccount, kSecAttrAccessGroup, kSecAttrAccessible].map { key in
            Hexadecimal.encode(item.bytes(key) ?? [])
        }
        let synchronised = item.flag(kSecAttrSynchronizable)
        let dates = [kSecAttrCreationDate, kSecAttrModificationDate].map { key in
            synchronised ? "" : item.date(key).map { String($0.milliseconds) } ?? ""
        }
        return (texts + [synchronised ? "1" : "0"] + dates).joined(separator: " ")
    }
}

extension Date {
    /// Whole milliseconds since 1970.
    var milliseconds: Int64 {
        Int64((timeIntervalSince1970 * 1000).rounded())
    }
}
