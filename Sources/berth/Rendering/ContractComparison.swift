import BerthCore

/// The five contract fields of the legacy and the target item side by side (C1), from an attempt's status files.
struct ContractComparison: Sendable {
    /// An item and the status file that told of it.
    private struct Sighting: Sendable {
        let file: String
        let item: StatusFile.Item
    }

    private let legacy: Sighting?
    private let target: Sighting?

    /// - Parameter statuses: by launch, first to last.
    init(_ statuses: [(name: String, status: StatusFile)]) {
        func sightings(_ role: StatusFile.Item.Role) -> [Sighting] {
            statuses.compactMap { name, status in status.item(role).map { Sighting(file: name, item: $0) } }
        }
        // The old item is shown as the old build read it back; after the migration it may be gone.
        let seen = sightings(.legacy)
        legacy = seen.first { $0.item.read == .found } ?? seen.first
        target = sightings(.target).last
    }

    /// A table, or nothing when no status file told of an item.
    var text: String {
        guard legacy != nil || target != nil else { return "" }
        var table = Table("  ITEM", "LEGACY", "TARGET", "")
        table.add("  from", legacy?.file ?? "", target?.file ?? "")
        table.add("  read", Self.read(legacy), Self.read(target))
        func field(_ name: String, _ value: (ItemContract) -> String?) {
            let pair = (legacy.map { value($0.item.contract) }, target.map { value($0.item.contract) })
            let note: String
            if let left = pair.0, let right = pair.1 { note = left == right ? "same" : "differs" } else { note = "" }
            table.add("  \(name)", Self.cell(pair.0), Self.cell(pair.1), note)
        }
        field("class") { $0.itemClass }
        field("service") { $0.service }
        field("account") { $0.account }
        field("access group") { $0.accessGroup }
        field("accessible") { $0.accessible }
        return table.text(ifEmpty: "")
    }

    private static func read(_ sighting: Sighting?) -> String {
        guard let item = sighting?.item else { return "not reported" }
        return "\(item.read.rawValue) (\(item.status)), content \(item.content.rawValue)"
    }

    private static func cell(_ value: String??) -> String {
        guard let value else { return "" }
        return value ?? "not given"
    }
}
