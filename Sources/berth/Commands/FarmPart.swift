/// A kind of thing that can be taken out of use.
protocol FarmPart: Sendable {
    /// `slot`, `host` or `farm`.
    static var kind: String { get }
    static var operands: [CommandDescription.Operand] { get }
}

enum OneSlot: FarmPart {
    static let kind = "slot"
    static let operands = [CommandDescription.Operand(name: "SLOT", help: "the slot's name")]
}

enum OneHost: FarmPart {
    static let kind = "host"
    static let operands = [CommandDescription.Operand(name: "HOST", help: "the host's name; it concerns all its slots")]
}

enum WholeFarm: FarmPart {
    static let kind = "farm"
    static let operands: [CommandDescription.Operand] = []
}

extension FarmPart {
    /// Its place in the API for a verb.
    static func path(_ name: String?, _ verb: String) -> String {
        if let name { APIClient.path("\(kind)s", name, verb) } else { APIClient.path(kind, verb) }
    }

    /// Not any one of them, for a command's summary.
    static var anyOne: String { operands.isEmpty ? "the farm" : "a \(kind)" }

    /// What else resuming does.
    static var resumeDiscussion: String {
        kind == "slot" ? "This also takes a slot out of quarantine before a health check has passed on it." : ""
    }

    /// With its name, for a sentence.
    static func words(_ name: String?) -> String { name.map { "\(kind) \($0)" } ?? "the farm" }
}
