/// Reads a plan out of a tree, keeps the place of every value, and goes on after a problem to find them all.
struct PlanReading {
    private(set) var problems: [DocumentProblem] = []
    private(set) var places: [String: DocumentPosition] = [:]

    private static let keys = [
        "format", "name", "old", "new", "paths", "cases", "os", "platforms", "kinds", "labels", "repeats", "priority",
        "deadline",
    ]

    /// The plan, or nil when something without which there is none is missing.
    mutating func read(_ root: DocumentNode) -> Plan? {
        guard let values = map(root, "a plan", known: Self.keys) else { return nil }
        readFormat(values["format"], root)
        let paths = readPaths(values, root)
        let cases = required("cases", values, root).map { texts($0, "cases", "the name of a case") } ?? []
        let os = values["os"].map { readOS($0) } ?? ["latest"]
        let platforms: [Platform] = values["platforms"].map { words($0, "platforms") } ?? []
        let kinds: [DeviceKind] = values["kinds"].map { words($0, "kinds") } ?? []
        return Plan(
            name: values["name"].flatMap { text($0, "name", "the plan's name") },
            paths: paths,
            cases: cases,
            os: os,
            platforms: platforms,
            kinds: kinds,
            labels: values["labels"].map { readLabels($0) } ?? [:],
            repeats: values["repeats"].flatMap { number($0, "repeats", Plan.repeatsRange) } ?? 1,
            priority: values["priority"].flatMap { number($0, "priority", Plan.priorityRange) } ?? 0,
            deadline: values["deadline"].flatMap { text($0, "deadline", Deadline.accepted) }
        )
    }

    private mutating func readFormat(_ node: DocumentNode?, _ root: DocumentNode) {
        guard let node else { return refuse(root, "`format: 1` is missing") }
        if node.text != "1" { refuse(node, "format \(node.kindInWords) is not known here; 1 is") }
    }

    /// `old` and `new` make one path for each new build; `paths` are taken as they stand.
    private mutating func readPaths(_ values: [String: DocumentNode], _ root: DocumentNode) -> [[String]] {
        var paths: [[String]] = []
        if values["paths"] == nil, values["old"] == nil, values["new"] == nil {
            refuse(root, "no builds are named: give `old` and `new`, or `paths`")
        }
        if values["old"] != nil || values["new"] != nil,
            let old = required("old", values, root), let new = required("new", values, root),
            let oldName = text(old, "old", "one build: ID, digits of it, or name")
        {
            for (index, node) in items(new).enumerated() {
                guard let name = text(node, "new[\(index)]", "a build: ID, digits of it, or name") else { continue }
                places["paths[\(paths.count)]"] = node.position
                places["paths[\(paths.count)][0]"] = old.position
                places["paths[\(paths.count)][1]"] = node.position
                refuseRepeats([oldName, name], [old, node])
                paths.append([oldName, name])
            }
            refuseRepeats(items(new).compactMap(\.text), items(new))
        }
        guard let node = values["paths"] else { return paths }
        guard case .list(let rows) = node.content else {
            refuse(node, "`paths` must be a list of lists of builds, not \(node.kindInWords)")
            return paths
        }
        if rows.isEmpty { refuse(node, "`paths` is empty") }
        for row in rows {
            guard case .list(let builds) = row.content, builds.count >= 2 else {
                refuse(row, "a path must be a list of two or more builds, the old one first, not \(row.kindInWords)")
                continue
            }
            places["paths[\(paths.count)]"] = row.position
            var names: [String] = []
            for (index, build) in builds.enumerated() {
                let place = "paths[\(paths.count)][\(index)]"
                names.append(text(build, place, "a build: ID, digits of it, or name") ?? "")
            }
            refuseRepeats(names, builds)
            paths.append(names)
        }
        return paths
    }

    private mutating func readOS(_ node: DocumentNode) -> [String] {
        texts(node, "os", OSRequirement.accepted)
    }

    private mutating func readLabels(_ node: DocumentNode) -> [String: String] {
        guard let values = map(node, "`labels`", known: SlotLabel.allCases.map(\.rawValue), place: "labels.") else {
            return [:]
        }
        var labels: [String: String] = [:]
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            labels[key] = text(value, "labels.\(key)", "what the slot's \(key) must be")
        }
        return labels
    }

    // MARK: - Values

    private mutating func refuse(_ node: DocumentNode, _ message: String) {
        problems.append(DocumentProblem(node.position, message))
    }

    private mutating func required(
        _ key: String,
        _ values: [String: DocumentNode],
        _ root: DocumentNode
    ) -> DocumentNode? {
        if values[key] == nil { refuse(root, "`\(key)` is missing") }
        return values[key]
    }

    /// The values of a mapping by key; absent values do not count.
    private mutating func map(
        _ node: DocumentNode,
        _ what: String,
        known: [String],
        place: String = ""
    ) -> [String: DocumentNode]? {
        guard case .map(let entries) = node.content else {
            refuse(
                node,
                "\(what) must be a mapping with the keys \(known.joined(separator: ", ")), not \(node.kindInWords)"
            )
            return nil
        }
        var first: [String: DocumentPosition] = [:]
        var values: [String: DocumentNode] = [:]
        for entry in entries {
            guard let key = entry.key.text, known.contains(key) else {
                let words = entry.key.text.map(\.debugDescription) ?? entry.key.kindInWords
                refuse(entry.key, "\(words) is no key of \(what); there are \(known.joined(separator: ", "))")
                continue
            }
            if let earlier = first[key] {
                refuse(entry.key, "`\(key)` is given twice; it stands at \(earlier) already")
                continue
            }
            first[key] = entry.key.position
            places[place + key] = entry.value.position
            if !entry.value.isAbsent { values[key] = entry.value }
        }
        return values
    }

    /// A list's items; one value stands for a list of one.
    private func items(_ node: DocumentNode) -> [DocumentNode] {
        if case .list(let nodes) = node.content { nodes } else { [node] }
    }

    private mutating func text(_ node: DocumentNode, _ place: String, _ what: String) -> String? {
        places[place] = node.position
        guard let text = node.text, !node.isAbsent, !text.isEmpty else {
            refuse(node, "\(what) must stand here, not \(node.kindInWords)")
            return nil
        }
        return text
    }

    private mutating func texts(_ node: DocumentNode, _ key: String, _ what: String) -> [String] {
        let nodes = items(node)
        if nodes.isEmpty { refuse(node, "`\(key)` is empty") }
        var texts: [String] = []
        for (index, item) in nodes.enumerated() {
            if let text = text(item, "\(key)[\(index)]", what) { texts.append(text) }
        }
        if texts.count == nodes.count { refuseRepeats(texts, nodes) }
        return texts
    }

    private mutating func words<Word: RawRepresentable<String> & CaseIterable>(
        _ node: DocumentNode,
        _ key: String
    ) -> [Word] {
        let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return texts(node, key, "one of \(known)").enumerated().compactMap { index, text in
            guard let word = Word(rawValue: text) else {
                let position = places["\(key)[\(index)]"] ?? node.position
                problems.append(DocumentProblem(position, "\(text.debugDescription) is none of \(known)"))
                return nil
            }
            return word
        }
    }

    private mutating func number(_ node: DocumentNode, _ key: String, _ range: ClosedRange<Int>) -> Int? {
        places[key] = node.position
        guard case .scalar(let text, isQuoted: false) = node.content, let number = Int(text), range.contains(number)
        else {
            refuse(
                node,
                "`\(key)` must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(node.kindInWords)"
            )
            return nil
        }
        return number
    }

    private mutating func refuseRepeats(_ texts: [String], _ nodes: [DocumentNode]) {
        guard texts.count == nodes.count else { return }
        for (index, text) in texts.enumerated() {
            guard let earlier = texts[..<index].firstIndex(of: text), !text.isEmpty else { continue }
            refuse(
                nodes[index],
                "\(text.debugDescription) is named twice; it stands at \(nodes[earlier].position) already"
            )
        }
    }
}
