import BerthSystem
import Foundation
import SQLiteDatabase

/// The keychain of a device: the four calls, with the checks in the order in which a caller can tell them apart.
///
/// Its profile is the simulator's: protection classes are recorded and matched, and never keep an item unreadable. Not
/// Sendable: the device's supervisor gives it to one caller at a time. No value of an item is ever logged.
package final class KeychainService {
    /// What a call gives back.
    package struct Answer: Sendable {
        package let status: KeychainStatus
        package let result: KeychainValue?
        package let notice: String?
    }

    private let database: KeychainDatabase
    private let now: @Sendable () -> Double

    /// Opens the keychain in a file, making it if it is not there.
    ///
    /// - Parameters:
    ///   - path: the database file.
    ///   - now: seconds since 2001, for the dates of items.
    /// - Throws: `DatabaseError`, `KeychainDatabaseError`
    package init(
        path: String,
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSinceReferenceDate }
    ) throws {
        database = try KeychainDatabase(path: path)
        self.now = now
    }

    /// Answers one call.
    ///
    /// - Parameters:
    ///   - operation: `add`, `copy`, `update` or `delete`.
    ///   - query: the call's dictionary by wire keys.
    ///   - changes: the second dictionary of an update.
    ///   - client: who calls.
    /// - Returns: a status in every case; a failure of the database is one too.
    package func call(
        _ operation: String,
        query: [String: KeychainValue],
        changes: [String: KeychainValue]? = nil,
        client: KeychainClient
    ) -> Answer {
        do {
            guard let operation = KeychainQuery.Operation(rawValue: operation) else {
                throw KeychainFailure.unsupported("the call \(operation)")
            }
            try checkTypes(operation, query, changes)
            try checkInternalAttributes(query, changes)
            let result: KeychainValue? =
                switch operation {
                case .add: try add(query, client)
                case .copy: try copy(query, client)
                case .update: try update(query, changes ?? [:], client)
                case .delete: try delete(query, client)
                }
            return Answer(status: .success, result: result, notice: nil)
        } catch let failure as KeychainFailure {
            return Answer(status: failure.status, result: nil, notice: failure.notice)
        } catch {
            return failed(error)
        }
    }

    private func failed(_ error: any Error) -> Answer {
        Log(component: "keychain").error("A call failed", ["error": "\(error)"])
        let code = (error as? DatabaseError)?.code.primary
        let isDisk = code == .inputOutput || code == .full
        return Answer(
            status: isDisk ? .inputOutput : .notAvailable,
            result: nil,
            notice: "the device's keychain database failed; its log says how"
        )
    }

    // MARK: Checks before parsing

    /// What Apple's client side refuses before the call leaves the app.
    private func checkTypes(
        _ operation: KeychainQuery.Operation,
        _ query: [String: KeychainValue],
        _ changes: [String: KeychainValue]?
    ) throws(KeychainFailure) {
        for dictionary in [query, changes ?? [:]] {
            if let control = dictionary["accc"] {
                guard case .accessControl = control else { throw KeychainFailure(.parameter) }
            }
        }
        // No object of this platform is a certificate, a key or an identity.
        if query["v_Ref"] != nil { throw KeychainFailure(.parameter) }
        if query["u_AuthCtx"] != nil, query["u_CredRef"] != nil { throw KeychainFailure(.parameter) }
        if operation != .copy, query["u_AuthUI"] == .string("u_AuthUIS") { throw KeychainFailure(.parameter) }
    }

    private func checkInternalAttributes(
        _ query: [String: KeychainValue],
        _ changes: [String: KeychainValue]?
    ) throws(KeychainFailure) {
        if query["clip"] != nil || changes?["clip"] != nil { throw KeychainFailure(.parameter) }
        if changes?["ggrp"] != nil { throw KeychainFailure(.parameter) }
        guard query["ggrp"] != nil else { return }
        let sync = query["sync"].flatMap { try? KeychainAttributeKind.number.convert($0) }
        throw KeychainFailure(sync == .integer(1) ? .parameter : .missingEntitlement)
    }

    /// The groups that a call may touch.
    ///
    /// - Throws: `.missingEntitlement` when there are none, or the named one is not among them.
    private func groups(
        of client: KeychainClient,
        writing: Bool,
        named value: KeychainValue?
    ) throws(KeychainFailure) -> [String] {
        let usable = writing ? client.writableGroups : client.accessGroups
        guard !usable.isEmpty else { throw KeychainFailure(.missingEntitlement) }
        guard let value else { return usable }
        // A name of another type is the parser's to refuse.
        guard case .string(let name) = try? KeychainAttributeKind.string.convert(value) else { return usable }
        guard usable.contains(name) else { throw KeychainFailure(.missingEntitlement) }
        return [name]
    }

    // MARK: The four calls

    private func add(_ dictionary: [String: KeychainValue], _ client: KeychainClient) throws -> KeychainValue? {
        let usable = try groups(of: client, writing: true, named: nil)
        let query = try KeychainQuery(dictionary, operation: .add)
        _ = try groups(of: client, writing: true, named: query.attributes["agrp"])
        guard query.matchKeys.isEmpty else {
            throw KeychainFailure(
                .parameter,
                notice:
                    "an addition with a match key (\(query.matchKeys.sorted().joined(separator: ", "))) stores nothing"
            )
        }
        guard let itemClass = query.itemClass else { throw KeychainFailure(.parameter) }
        if let reference = query.persistentReference {
            guard reference.count == 16 else { throw KeychainFailure(.parameter) }
            throw KeychainFailure.unsupported("an addition with a given persistent reference")
        }
        var attributes = itemClass.defaults.merging(query.attributes) { _, given in given }
        let group = attributes["agrp"] ?? .string(usable[0])
        attributes["agrp"] = group
        attributes["sync"] = .integer(query.synchronizable == true ? 1 : 0)
        let inferred = group == .string("com.apple.apsd") ? "dku" : "ak"
        attributes["pdmn"] = attributes["pdmn"] ?? .string(query.accessProtection ?? inferred)
        attributes["cdat"] = .date(now())
        attributes["mdat"] = attributes["cdat"]
        attributes["tomb"] = .integer(0)
        attributes["musr"] = .data([])
        let item = try database.insert(itemClass, attributes: attributes, data: query.data)
        return item.result(query.returned)
    }

    private func copy(_ dictionary: [String: KeychainValue], _ client: KeychainClient) throws -> KeychainValue? {
        _ = try groups(of: client, writing: false, named: nil)
        let query = try KeychainQuery(dictionary, operation: .copy)
        let groups = try groups(of: client, writing: false, named: query.attributes["agrp"])
        if query.matchKeys.contains("m_ItemList") { throw KeychainFailure(.parameter) }
        guard query.matchKeys.isDisjoint(with: ["m_Policy", "m_Issuers", "m_HostOrSubdomainOfHost"]) else {
            throw KeychainFailure(.unimplemented)
        }
        let found = try items(query, groups)
        switch query.limit ?? .one {
        case .one:
            guard let first = found.first else { throw KeychainFailure(.itemNotFound) }
            return first.result(query.returned)
        case .atMost(let most):
            return try list(found.prefix(most), query.returned)
        case .all:
            return try list(found[...], query.returned)
        }
    }

    private func list(_ items: ArraySlice<KeychainItem>, _ returned: KeychainQuery.Returned) throws -> KeychainValue {
        guard !items.isEmpty else { throw KeychainFailure(.itemNotFound) }
        return .array(items.compactMap { $0.result(returned) })
    }

    private func update(
        _ dictionary: [String: KeychainValue],
        _ changed: [String: KeychainValue],
        _ client: KeychainClient
    ) throws -> KeychainValue? {
        let groups = try groups(of: client, writing: true, named: dictionary["agrp"])
        let query = try KeychainQuery(dictionary, operation: .update)
        guard let itemClass = query.itemClass else { throw KeychainFailure(.parameter) }
        let changes = try KeychainChanges(changed, itemClass: itemClass)
        _ = try self.groups(of: client, writing: true, named: changes.attributes["agrp"])
        guard query.matchKeys.isEmpty, query.returned.isEmpty else { throw KeychainFailure(.parameter) }
        try database.transaction {
            let found = try items(query, groups)
            guard !found.isEmpty else { throw KeychainFailure(.itemNotFound) }
            for item in found { try database.update(changing(item, by: changes)) }
        }
        return nil
    }

    private func changing(_ item: KeychainItem, by changes: KeychainChanges) -> KeychainItem {
        var new = item
        new.attributes.merge(changes.attributes) { _, given in given }
        if let data = changes.data { new.data = data }
        // Nobody sets these: what they say is the keychain's own knowledge.
        for name in ["mdat", "sha1", "tomb", "musr"] { new.attributes[name] = item.attributes[name] }
        var modified = now()
        let digest = item.itemClass.digest
        if case .date(let before) = item.attributes["mdat"], digest(new.attributes) == digest(item.attributes) {
            modified = max(modified, before.nextUp)
        }
        new.attributes["mdat"] = .date(modified)
        return new
    }

    private func delete(_ dictionary: [String: KeychainValue], _ client: KeychainClient) throws -> KeychainValue? {
        let groups = try groups(of: client, writing: true, named: dictionary["agrp"])
        let query = try KeychainQuery(dictionary, operation: .delete)
        guard query.matchKeys.isEmpty else { throw KeychainFailure(.parameter) }
        try database.transaction {
            let found = try items(query, groups)
            guard !found.isEmpty else { throw KeychainFailure(.itemNotFound) }
            for item in found { try database.delete(item) }
        }
        return nil
    }

    /// The items that a query selects, in the order of their addition.
    private func items(_ query: KeychainQuery, _ groups: [String]) throws -> [KeychainItem] {
        guard let itemClass = query.itemClass else { throw KeychainFailure(.parameter) }
        // A reference of the older, shorter form names no item of this runtime.
        if let reference = query.persistentReference, reference.count != 16 { return [] }
        let candidates = try database.items(
            of: itemClass,
            groups: groups,
            synchronizable: query.synchronizable,
            reference: query.persistentReference
        )
        return candidates.filter { $0.matches(query.attributes) }
    }
}
