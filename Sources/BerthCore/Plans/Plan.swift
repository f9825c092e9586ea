/// What shall be run: paths of builds, in cases, on system versions and platforms (docs/formats.md, plan file).
package struct Plan: Sendable, Hashable, Codable {
    /// 1
    package let format: Int
    /// For people.
    package let name: String?
    /// Paths of builds, the old one first, the new one last. A build is named by ID, prefix of it, or name.
    package let paths: [[String]]
    /// Names of cases.
    package let cases: [String]
    /// What `OSRequirement` reads; each is resolved to one version.
    package let os: [String]
    /// At most one of `platforms` and `kinds` is given; with neither, a path runs on the platform that it is made for.
    package let platforms: [Platform]
    package let kinds: [DeviceKind]
    /// What a slot's labels must be; keys of `SlotLabel`.
    package let labels: [String: String]
    /// From 1.
    package let repeats: Int
    /// Higher goes first.
    package let priority: Int
    /// When what has no end yet expires: what `Deadline` reads.
    package let deadline: String?

    /// How often each combination may be repeated.
    package static let repeatsRange = 1...1000
    package static let priorityRange = -1_000_000...1_000_000
    /// Characters that a plan's name may have.
    package static let nameLimit = 200

    package init(
        name: String? = nil,
        paths: [[String]],
        cases: [String],
        os: [String] = ["latest"],
        platforms: [Platform] = [],
        kinds: [DeviceKind] = [],
        labels: [String: String] = [:],
        repeats: Int = 1,
        priority: Int = 0,
        deadline: String? = nil
    ) {
        format = 1
        self.name = name
        self.paths = paths
        self.cases = cases
        self.os = os
        self.platforms = platforms
        self.kinds = kinds
        self.labels = labels
        self.repeats = repeats
        self.priority = priority
        self.deadline = deadline
    }

    private enum CodingKeys: String, CodingKey {
        case format
        case name
        case paths
        case cases
        case os
        case platforms
        case kinds
        case labels
        case repeats
        case priority
        case deadline
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        format = try container.decode(Int.self, forKey: .format)
        guard format == 1 else {
            throw DecodingError.dataCorruptedError(
                forKey: .format,
                in: container,
                debugDescription: "version \(format) is not known here; 1 is"
            )
        }
        name = try container.decodeIfPresent(String.self, forKey: .name)
        paths = try container.decode([[String]].self, forKey: .paths)
        cases = try container.decode([String].self, forKey: .cases)
        os = try container.decodeIfPresent([String].self, forKey: .os) ?? ["latest"]
        platforms = try container.decodeIfPresent([Platform].self, forKey: .platforms) ?? []
        kinds = try container.decodeIfPresent([DeviceKind].self, forKey: .kinds) ?? []
        labels = try container.decodeIfPresent([String: String].self, forKey: .labels) ?? [:]
        repeats = try container.decodeIfPresent(Int.self, forKey: .repeats) ?? 1
        priority = try container.decodeIfPresent(Int.self, forKey: .priority) ?? 0
        deadline = try container.decodeIfPresent(String.self, forKey: .deadline)
    }

    /// What is wrong with the plan itself, whatever the farm has, by place; empty if nothing is.
    package var problems: [PlanProblem] {
        var problems: [PlanProblem] = []
        func refuse(_ place: String, _ code: String, _ message: String) {
            problems.append(PlanProblem(place: place, code: code, message: message))
        }
        if paths.isEmpty || cases.isEmpty || os.isEmpty {
            refuse("", "empty-batch", "a batch needs at least one new build, one case and one system version")
        }
        for (index, path) in paths.enumerated() where path.count < 2 {
            refuse("paths[\(index)]", "short-path", "a path needs an old and a new build at least, not \(path.count)")
        }
        for (index, text) in os.enumerated() where OSRequirement(text) == nil {
            refuse("os[\(index)]", "malformed-os", "\(text.debugDescription) is not \(OSRequirement.accepted)")
        }
        for key in labels.keys.sorted() where SlotLabel(rawValue: key) == nil {
            refuse(
                "labels.\(key)",
                "unknown-label",
                "\(key.debugDescription) is no label of a slot; there are \(SlotLabel.list)"
            )
        }
        if !platforms.isEmpty, !kinds.isEmpty {
            refuse("kinds", "platforms-and-kinds", "give platforms or kinds, not both: a platform has its kind")
        }
        if !Self.repeatsRange.contains(repeats) {
            refuse("repeats", "malformed-repeats", "repeats must lie between 1 and 1000, not \(repeats)")
        }
        if !Self.priorityRange.contains(priority) {
            refuse("priority", "malformed-priority", "the priority must lie between -1000000 and 1000000")
        }
        if let deadline, Deadline(deadline) == nil {
            refuse("deadline", "malformed-deadline", "\(deadline.debugDescription) is not \(Deadline.accepted)")
        }
        if let name, name.count > Self.nameLimit {
            refuse("name", "malformed-name", "a plan's name may have \(Self.nameLimit) characters, not \(name.count)")
        }
        return problems
    }
}
