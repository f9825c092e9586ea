import Foundation

@testable import SimulatedDevice

/// One row of the conformance list: steps against an empty keychain, with the answers that are expected.
struct ConformanceRow {
    let id: String
    let title: String
    let profile: String
    let needs: Set<String>
    let steps: [[String: Any]]

    init?(line: Substring) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let id = object["id"] as? String, let steps = object["steps"] as? [[String: Any]]
        else { return nil }
        self.id = id
        self.steps = steps
        title = object["title"] as? String ?? ""
        profile = object["profile"] as? String ?? "any"
        needs = Set(object["needs"] as? [String] ?? [])
    }

    private static let profiles: Set<String> = ["any", "ios", "simulator"]
    private static let operations: Set<String> = ["add", "copy", "update", "delete", "entitlements"]
    /// Of what rows may ask for beyond the four calls, what this keychain has.
    private static let offers: Set<String> = ["accesscontrol"]

    /// Whether the row is about generic passwords and nothing else.
    var concernsGenericPasswords: Bool {
        steps.allSatisfy { ($0["class"] as? String ?? "genp") == "genp" }
    }

    /// Whether this keychain and this runner have everything that the row asks for.
    var isSupported: Bool {
        Self.profiles.contains(profile) && needs.isSubset(of: Self.offers)
            && steps.allSatisfy { Self.operations.contains($0["op"] as? String ?? "") }
    }
}

/// Runs one row.
struct ConformanceRun {
    private let service: KeychainService
    private var client = KeychainClient(accessGroups: ["TEAM.app"])
    private var saved: [String: KeychainValue] = [:]

    init(database: String) throws {
        service = try KeychainService(path: database)
    }

    /// - Returns: how the first differing step differs; nil when all answers are the expected ones.
    mutating func difference(_ row: ConformanceRow) -> String? {
        for (index, step) in row.steps.enumerated() {
            if let difference = run(step) { return "step \(index + 1): \(difference)" }
        }
        return nil
    }

    private mutating func run(_ step: [String: Any]) -> String? {
        let operation = step["op"] as? String ?? ""
        if operation == "entitlements" {
            client = KeychainClient(entitlements: step["value"] as? [String: Any] ?? [:])
            return nil
        }
        let answer = service.call(
            operation,
            query: query(step),
            changes: (step["set"] as? [String: Any]).map(entries),
            client: client
        )
        if let status = step["expectStatus"] as? Int, answer.status.rawValue != Int32(status) {
            return "\(operation) answered \(answer.status.rawValue) instead of \(status)"
        }
        if let name = step["save"] as? String { saved[name] = answer.result }
        return difference(step, answer.result)
    }

    private func query(_ step: [String: Any]) -> [String: KeychainValue] {
        let attributes = step["attrs"] as? [String: Any] ?? [:]
        var query: [String: KeychainValue]
        if let name = attributes["$from"] as? String, case .dictionary(let entries) = saved[name] {
            let dropped = attributes["$drop"] as? [String] ?? []
            query = entries.filter { !dropped.contains($0.key) }
        } else {
            query = entries(attributes)
        }
        if let itemClass = step["class"] as? String { query["class"] = .string(itemClass) }
        let names = ["data": "r_Data", "attrs": "r_Attributes", "ref": "r_Ref", "pref": "r_PersistentRef"]
        for name in step["ret"] as? [String] ?? [] { query[names[name] ?? name] = .boolean(true) }
        switch step["limit"] {
        case let text as String: query["m_Limit"] = .string(text == "all" ? "m_LimitAll" : "m_LimitOne")
        case let number as Int: query["m_Limit"] = .integer(Int64(number))
        default: break
        }
        return query
    }

    private func entries(_ object: [String: Any]) -> [String: KeychainValue] {
        object.mapValues(value)
    }

    private func value(_ json: Any) -> KeychainValue {
        guard let object = json as? [String: Any] else { return KeychainValue(propertyList: json) }
        if let text = object["$utf8"] as? String { return .data(Array(text.utf8)) }
        if let hex = object["$hex"] as? String { return .data(bytes(hex)) }
        if let fill = object["$fill"] as? [String: Any], let count = fill["bytes"] as? Int {
            let pattern = Array((fill["pattern"] as? String ?? "x").utf8)
            return .data((0..<count).map { pattern[$0 % pattern.count] })
        }
        if object["$null"] != nil { return .null }
        if let seconds = object["$date"] as? NSNumber { return .date(seconds.doubleValue) }
        if let array = object["$array"] as? [Any] { return .array(array.map(value)) }
        if let control = object["$ac"] as? [String: Any] {
            let flags = control["flags"] as? [String] ?? []
            return .accessControl(protection: control["protection"] as? String ?? "", flags: flags.isEmpty ? 0 : 1)
        }
        if let name = object["$ref"] as? String { return saved[name] ?? .other(type: "nothing saved as \(name)") }
        if let pick = object["$pick"] as? [String], pick.count == 2, case .dictionary(let entries) = saved[pick[0]] {
            return entries[pick[1]] ?? .other(type: "no \(pick[1])")
        }
        return .other(type: "unknown notation")
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    // MARK: Expectations

    private func difference(_ step: [String: Any], _ result: KeychainValue?) -> String? {
        for (key, expected) in step where key.hasPrefix("expect") && key != "expectStatus" {
            guard meets(key, expected, result) else { return "\(key) \(expected) is not met by \(kind(result))" }
        }
        return nil
    }

    private func meets(_ key: String, _ expected: Any, _ result: KeychainValue?) -> Bool {
        let first = first(result)
        switch key {
        case "expectResult": return kind(result) == expected as? String
        case "expectElement": return kind(first) == expected as? String
        case "expectCount":
            guard case .array(let elements) = result else { return expected as? Int == (result == nil ? 0 : 1) }
            return elements.count == expected as? Int
        case "expectData":
            let wanted = (expected as? String).map { KeychainValue.data(Array($0.utf8)) } ?? value(expected)
            return data(first) == wanted
        case "expectAttrs":
            guard case .dictionary(let entries) = first else { return false }
            return self.entries(expected as? [String: Any] ?? [:]).allSatisfy { entries[$0.key] == $0.value }
        case "expectPresent", "expectAbsent":
            guard case .dictionary(let entries) = first, let names = expected as? [String] else { return false }
            return names.allSatisfy { (entries[$0] != nil) == (key == "expectPresent") }
        case "expectLength":
            guard case .data(let bytes) = first else { return false }
            return bytes.count == expected as? Int
        case "expectEqual": return result == value(expected)
        case "expectNotEqual": return result != nil && result != value(expected)
        default: return false
        }
    }

    private func first(_ result: KeychainValue?) -> KeychainValue? {
        if case .array(let elements) = result { return elements.first }
        return result
    }

    private func data(_ result: KeychainValue?) -> KeychainValue? {
        if case .dictionary(let entries) = result { return entries["v_Data"] }
        return result
    }

    private func kind(_ result: KeychainValue?) -> String {
        switch result {
        case nil: "nil"
        case .array: "array"
        case .dictionary: "dict"
        case .data: "data"
        default: "object"
        }
    }
}
