import Foundation
import Security

@testable import KeychainMigration

/// A stand-in for the keychain of one app: follows the rules that a migration depends on, keeps a log of the calls, and
/// fails where a test tells it to.
final class StandInKeychain {
    enum Operation: String {
        case add, copy, update, delete
    }

    /// A call as the log keeps it: what was done to which service.
    struct Call: Equatable, CustomStringConvertible {
        var operation: Operation
        var service: String
        var description: String { "\(operation.rawValue) \(service)" }
    }

    struct Item {
        var attributes: [String: Any]
        var data: Data
        var reference: Data
    }

    var groups: [String]
    private(set) var items: [Item] = []
    private(set) var calls: [Call] = []
    /// Answers a call with a failure before it does anything; gets the call and its number among equal ones, from 1.
    var fault: (Call, Int) -> OSStatus? = { _, _ in nil }
    /// Runs after a call that was carried out.
    var afterCall: (Call) -> Void = { _ in }
    private var clock = Date(timeIntervalSince1970: 1_790_000_000)

    init(groups: [String] = ["TEAM.app"]) {
        self.groups = groups
    }

    /// The calls that change something.
    var writes: [Call] { calls.filter { $0.operation != .copy } }

    func forgetCalls() {
        calls = []
    }

    func item(_ contract: KeychainItemContract) -> Item? {
        items.first { matches($0, contract.identityQuery) }
    }

    func replaceData(of contract: KeychainItemContract, with data: Data) {
        for index in items.indices where matches(items[index], contract.identityQuery) {
            items[index].data = data
        }
    }

    var access: KeychainAccess {
        KeychainAccess(add: add, copyMatching: copy, update: update, delete: delete)
    }

    private func add(_ query: [CFString: Any]) -> OSStatus {
        perform(.add, query) {
            guard !query.keys.contains(where: { ($0 as String).hasPrefix("m_") }) else { return errSecParam }
            var attributes = plain(query)
            let data = attributes.removeValue(forKey: "v_Data") as? Data ?? Data()
            attributes["class"] = nil
            let group = attributes["agrp"] as? String ?? groups[0]
            guard groups.contains(group) else { return errSecMissingEntitlement }
            attributes["agrp"] = group
            attributes["pdmn"] = attributes["pdmn"] ?? "ak"
            attributes["sync"] = attributes["sync"] ?? 0
            let isTaken = items.contains { item in
                ["svce", "acct", "agrp"].allSatisfy {
                    item.attributes[$0] as? String == attributes[$0] as? String
                }
            }
            guard !isTaken else { return errSecDuplicateItem }
            clock += 1
            attributes["cdat"] = clock
            attributes["mdat"] = clock
            items.append(Item(attributes: attributes, data: data, reference: Data("genp\(clock)".utf8)))
            return errSecSuccess
        }
    }

    private func copy(_ query: [CFString: Any]) -> (status: OSStatus, result: CFTypeRef?) {
        var result: CFTypeRef?
        let status = perform(.copy, query) {
            if let group = query[kSecAttrAccessGroup] as? String, !groups.contains(group) {
                return errSecMissingEntitlement
            }
            let found = items.filter { matches($0, query) }
            guard let first = found.first else { return errSecItemNotFound }
            let all = plain(query)[kSecMatchLimit as String] as? String == kSecMatchLimitAll as String
            let dictionaries = (all ? found : [first]).map { item in
                var dictionary = item.attributes
                if query[kSecReturnData] as? Bool == true { dictionary["v_Data"] = item.data }
                if query[kSecReturnPersistentRef] as? Bool == true { dictionary["v_PersistentRef"] = item.reference }
                return dictionary
            }
            result = all ? dictionaries as NSArray : dictionaries[0] as NSDictionary
            return errSecSuccess
        }
        return (status, result)
    }

    private func update(_ query: [CFString: Any], _ changes: [CFString: Any]) -> OSStatus {
        perform(.update, query) {
            let isStrict = !query.keys.contains { ($0 as String).hasPrefix("m_") || ($0 as String).hasPrefix("r_") }
            guard isStrict else { return errSecParam }
            let hits = items.indices.filter { matches(items[$0], query) }
            guard !hits.isEmpty else { return errSecItemNotFound }
            clock += 1
            for index in hits {
                items[index].attributes.merge(plain(changes)) { $1 }
                items[index].attributes["mdat"] = clock
            }
            return errSecSuccess
        }
    }

    private func delete(_ query: [CFString: Any]) -> OSStatus {
        perform(.delete, query) {
            guard !query.keys.contains(where: { ($0 as String).hasPrefix("m_") }) else { return errSecParam }
            let before = items.count
            items.removeAll { matches($0, query) }
            return items.count == before ? errSecItemNotFound : errSecSuccess
        }
    }

    private func perform(_ operation: Operation, _ query: [CFString: Any], _ body: () -> OSStatus) -> OSStatus {
        let call = Call(operation: operation, service: query[kSecAttrService] as? String ?? "*")
        calls.append(call)
        if let status = fault(call, calls.count { $0 == call }) { return status }
        let status = body()
        afterCall(call)
        return status
    }

    /// Whether the app sees the item and every attribute of the query is equal, accessibility included.
    private func matches(_ item: Item, _ query: [CFString: Any]) -> Bool {
        guard let group = item.attributes["agrp"] as? String, groups.contains(group) else { return false }
        return plain(query).allSatisfy { key, value in
            guard key.count == 4, key != "sync" else { return true }
            return item.attributes[key] as? String == value as? String
        }
    }

    private func plain(_ query: [CFString: Any]) -> [String: Any] {
        var plain: [String: Any] = [:]
        for (key, value) in query {
            plain[key as String] = (value as? NSString).map { $0 as String } ?? value
        }
        return plain
    }
}
