import Foundation

/// The keychain access groups that entitlements give an app.
enum AccessGroups {
    /// Reads a property list of entitlements; nil when it is none.
    static func read(_ bytes: [UInt8]) -> [String]? {
        let list = try? PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        guard let entitlements = list as? [String: Any] else { return nil }
        var groups = entitlements["keychain-access-groups"] as? [String] ?? []
        if let identifier = entitlements["application-identifier"] as? String, !groups.contains(identifier) {
            groups.append(identifier)
        }
        return groups
    }
}
