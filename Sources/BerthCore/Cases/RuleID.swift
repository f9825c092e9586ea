/// The ID of a rule that a check decides, such as `G1` or `M5`.
package struct RuleID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { text }

    /// What the rule demands, in words; nil for a rule that has no words here.
    package var meaning: String? { Self.meanings[text] }

    package static let readable = RuleID("G1")
    package static let repeatable = RuleID("G2")
    package static let nothingDeleted = RuleID("G3")
    package static let freshInstall = RuleID("M1")
    package static let migrated = RuleID("M2")
    package static let errorClear = RuleID("M4")
    package static let groupReachable = RuleID("M5")
    package static let originalKept = RuleID("C2")
    package static let dataSought = RuleID("C4")
    package static let bystandersUntouched = RuleID("E1")
    package static let productionSilent = RuleID("B3")
    package static let secretsStay = RuleID("D2")

    private static let meanings = [
        "G1": "data of the old build is readable by the new build",
        "G2": "two migrations in a row give the same result",
        "G3": "abnormal input does not delete the old item",
        "M1": "on a fresh install the new build creates the new item",
        "M2": "after an update over the old build its item is readable",
        "M4": "a corrupted old item is kept, and the error is clear",
        "M5": "the new build reaches the old item's access group",
        "C2": "a migration that is refused or interrupted loses nothing",
        "C4": "the marker proves nothing: the new build still looks for the data",
        "E1": "items that are not the migration's stay untouched",
        "B3": "a production build does not react to the test arguments",
        "D2": "nothing that is stored holds the credential",
    ]

    package static func < (left: RuleID, right: RuleID) -> Bool { left.text < right.text }

    package init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
