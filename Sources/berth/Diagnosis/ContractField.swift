import BerthCore

/// The five fields that tie a build to its item, in the order in which they are asked for (C1).
enum ContractField: String, CaseIterable, Sendable {
    case itemClass = "class"
    case service
    case account
    case accessGroup = "access group"
    case accessible

    func value(_ contract: ItemContract) -> String? {
        switch self {
        case .itemClass: contract.itemClass
        case .service: contract.service
        case .account: contract.account
        case .accessGroup: contract.accessGroup
        case .accessible: contract.accessible
        }
    }

    /// A value as a person reads it; `suffix` is the attempt's, which says nothing about the builds.
    func words(_ contract: ItemContract, suffix: String) -> String {
        guard let value = value(contract) else {
            return self == .accessGroup ? "none named (any of its own)" : "not given"
        }
        switch self {
        case .service, .account: return value.hasSuffix(suffix) ? String(value.dropLast(suffix.count)) : value
        case .accessible: return Self.accessibilities[value].map { "\(value) (\($0))" } ?? value
        case .itemClass, .accessGroup: return value
        }
    }

    /// The fields in which both contracts name different values.
    static func differences(_ left: ItemContract, _ right: ItemContract) -> [ContractField] {
        allCases.filter { field in
            guard let one = field.value(left), let other = field.value(right) else { return false }
            return one != other
        }
    }

    private static let accessibilities = [
        "ak": "when unlocked", "ck": "after first unlock", "dk": "always", "aku": "unlocked, device only",
        "cku": "first unlock, device only", "dku": "always, device only", "akpu": "passcode set",
    ]
}
