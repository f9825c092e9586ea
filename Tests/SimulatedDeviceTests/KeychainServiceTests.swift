import Foundation
import Testing

@testable import SimulatedDevice

@Suite
struct KeychainServiceTests {
    private let folder: TemporaryFolder
    private let client = KeychainClient(accessGroups: ["TEAM.app", "TEAM.shared"])

    init() throws {
        folder = try TemporaryFolder()
    }

    private func service() throws -> KeychainService {
        try KeychainService(path: "\(folder.path)/keychain.db")
    }

    private static func item(_ account: String, _ more: [String: KeychainValue] = [:]) -> [String: KeychainValue] {
        [
            "class": .string("genp"), "svce": .string("service"), "acct": .string(account),
            "v_Data": .data(Array("value of \(account)".utf8)),
        ].merging(more) { _, new in new }
    }

    private static func query(_ more: [String: KeychainValue]) -> [String: KeychainValue] {
        ["class": .string("genp")].merging(more) { _, new in new }
    }

    @Test("Items outlive the service: a second one on the same file finds them with data, dates and reference")
    func persistence() throws {
        let everything: [String: KeychainValue] = [
            "r_Attributes": .boolean(true), "r_Data": .boolean(true), "r_PersistentRef": .boolean(true),
        ]
        let added = try service().call(
            "add",
            query: Self.item("a", everything.merging(["acct": .data([0, 0xFF]), "crtr": .integer(7)]) { $1 }),
            client: client
        )
        #expect(added.status == .success)
        let found = try service().call("copy", query: Self.query(everything), client: client)
        #expect(found.result == added.result)
        guard case .dictionary(let entries) = found.result else {
            Issue.record("no dictionary")
            return
        }
        #expect(entries["acct"] == .data([0, 0xFF]))
        #expect(entries["crtr"] == .integer(7))
        #expect(entries["agrp"] == .string("TEAM.app"))
    }

    @Test("Returned attributes are a query that finds exactly that item, until it changes")
    func attributesAsQuery() throws {
        let service = try service()
        for account in ["a", "b"] {
            #expect(service.call("add", query: Self.item(account), client: client).status == .success)
        }
        let found = service.call(
            "copy",
            query: Self.query(["acct": .string("b"), "r_Attributes": .boolean(true)]),
            client: client
        )
        guard case .dictionary(let attributes) = found.result else {
            Issue.record("no dictionary")
            return
        }
        let again = Self.query(attributes.merging(["r_Data": .boolean(true)]) { $1 })
        #expect(
            service.call("copy", query: again, client: client).result == .data(Array("value of b".utf8))
        )
        let change = service.call(
            "update",
            query: Self.query(["acct": .string("b")]),
            changes: ["labl": .string("new")],
            client: client
        )
        #expect(change.status == .success)
        #expect(service.call("copy", query: again, client: client).status == .itemNotFound)
    }

    @Test("An update that collides for one of its items changes none of them")
    func rollback() throws {
        let service = try service()
        for account in ["a", "b", "c"] {
            _ = service.call("add", query: Self.item(account, ["labl": .string(account)]), client: client)
        }
        // Every item would get the account of the third.
        let answer = service.call(
            "update",
            query: Self.query(["svce": .string("service")]),
            changes: ["acct": .string("d"), "v_Data": .data([1])],
            client: client
        )
        #expect(answer.status == .duplicateItem)
        for account in ["a", "b", "c"] {
            let found = service.call(
                "copy",
                query: Self.query(["acct": .string(account), "r_Data": .boolean(true)]),
                client: client
            )
            #expect(found.result == .data(Array("value of \(account)".utf8)))
        }
    }

    @Test("A number is no boolean where a boolean is asked for")
    func booleans() throws {
        let service = try service()
        _ = service.call("add", query: Self.item("a"), client: client)
        let answer = service.call("copy", query: Self.query(["r_Data": .integer(1)]), client: client)
        #expect(answer.status == .parameter)
    }

    @Test("An app without groups is told so before anything else is looked at")
    func noGroups() throws {
        let nobody = KeychainClient(entitlements: ["keychain-access-groups": "not an array"])
        let answer = try service().call("copy", query: ["nonsense": .null], client: nobody)
        #expect(answer.status == .missingEntitlement)
    }

    @Test(
        "What is not there is refused by number and by a notice that names it",
        arguments: [
            ("copy", ["class": KeychainValue.string("inet")], "class inet"),
            (
                "add",
                item("a", ["accc": .accessControl(protection: "ak", flags: 1)]),
                "access control with constraints"
            ),
        ]
    )
    func unsupported(operation: String, query: [String: KeychainValue], notice: String) throws {
        let answer = try service().call(operation, query: query, client: client)
        #expect(answer.status == .unimplemented)
        #expect(answer.notice?.contains(notice) == true)
    }

    @Test("A file that is no database is put aside, and the keychain starts empty")
    func unreadableDatabase() throws {
        let path = "\(folder.path)/keychain.db"
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: path))
        let service = try service()
        #expect(service.call("copy", query: Self.query([:]), client: client).status == .itemNotFound)
        #expect(service.call("add", query: Self.item("a"), client: client).status == .success)
        #expect(FileManager.default.fileExists(atPath: path + ".unreadable"))
    }

    @Test("Groups are listed in the order of the entitlements, the token group last and never written")
    func groups() {
        let client = KeychainClient(entitlements: [
            "application-identifier": "T.app", "keychain-access-groups": ["com.apple.token", "T.shared"],
            "com.apple.security.application-groups": ["group.x"],
        ])
        #expect(client.accessGroups == ["T.shared", "T.app", "group.x", "com.apple.token"])
        #expect(client.writableGroups == ["T.shared", "T.app", "group.x"])
    }
}
