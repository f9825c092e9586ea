/// One stored item.
struct KeychainItem: Sendable {
    let row: Int64
    let itemClass: KeychainClass
    /// Sixteen bytes that stay with the item through every change.
    let reference: [UInt8]
    /// All attributes with a value, the digest of the primary key among them.
    var attributes: [String: KeychainValue]
    var data: [UInt8]?

    /// What an app keeps to find the item again: the class and the reference.
    var persistentReference: [UInt8] { Array(itemClass.name.utf8) + reference }

    /// Whether every given attribute has exactly the item's value.
    func matches(_ filters: [String: KeychainValue]) -> Bool {
        filters.allSatisfy { name, wanted in
            guard let kind = itemClass.attributes[name], let value = attributes[name] else { return false }
            return kind.comparisonKey(value) == kind.comparisonKey(wanted)
        }
    }

    /// What a call gives back of the item; nil where there is nothing to give.
    func result(_ returned: KeychainQuery.Returned) -> KeychainValue? {
        switch returned {
        case []: return nil
        case .data: return data.map(KeychainValue.data)
        case .persistentReference: return .data(persistentReference)
        // Passwords have no object of their own.
        case .reference: return nil
        default: return .dictionary(dictionary(returned))
        }
    }

    private func dictionary(_ returned: KeychainQuery.Returned) -> [String: KeychainValue] {
        var entries: [String: KeychainValue] = [:]
        if returned.contains(.attributes) {
            entries = attributes
            if case .string(let protection) = attributes["pdmn"] {
                entries["accc"] = .accessControl(protection: protection, flags: 0)
            }
        }
        if returned.contains(.data), let data { entries["v_Data"] = .data(data) }
        if returned.contains(.persistentReference) { entries["v_PersistentRef"] = .data(persistentReference) }
        if returned.contains(.reference) { entries["class"] = .string(itemClass.name) }
        return entries
    }
}
