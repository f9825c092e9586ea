/// The entitlements of an old and a new build side by side: a diff for the evidence, and what it means (S1).
package struct EntitlementComparison: Sendable, Hashable {
    /// What hides items comes first.
    package let changes: [EntitlementChange]
    /// As `diff -u` of both property lists; empty when they are equal.
    package let diff: String

    private static let groupsKey = "keychain-access-groups"
    private static let applicationKeys = ["application-identifier", "com.apple.application-identifier"]
    private static let applicationGroupsKey = "com.apple.security.application-groups"

    /// Compares what two builds may do; `names` head the diff.
    package init(old: CodeIdentity, new: CodeIdentity, names: (old: String, new: String)) {
        diff = UnifiedDiff.text(
            old.entitlements?.xml ?? "",
            new.entitlements?.xml ?? "",
            names: names
        )
        changes = Self.changes(old, new).sorted { $0.hidesItems && !$1.hidesItems }
    }

    private static func changes(_ old: CodeIdentity, _ new: CodeIdentity) -> [EntitlementChange] {
        guard let before = old.entitlements, let after = new.entitlements else {
            guard old.entitlements != new.entitlements else { return [] }
            let which = new.entitlements == nil ? "new" : "old"
            return [
                EntitlementChange(
                    .entitlementsMissing,
                    key: groupsKey,
                    hidesItems: new.entitlements == nil,
                    "the \(which) build has no entitlements, so it is in no access group at all"
                )
            ]
        }
        var changes: [EntitlementChange] = []
        if let left = old.teamIdentifier, let right = new.teamIdentifier, left != right {
            changes.append(
                EntitlementChange(
                    .teamChanged,
                    key: "team identifier",
                    old: left,
                    new: right,
                    "the builds are signed for different teams: \(left) and \(right)"
                )
            )
        }
        changes += groupChanges(before, after)
        changes += applicationChanges(before, after)
        changes += otherChanges(before, after)
        return changes
    }

    // MARK: Access groups

    private static func groupChanges(_ old: PropertyListValue, _ new: PropertyListValue) -> [EntitlementChange] {
        let before = old[groupsKey]?.texts ?? []
        let after = new[groupsKey]?.texts ?? []
        let visible = Set(CodeIdentity.accessGroups(new))
        var added = after.filter { !before.contains($0) }
        var changes: [EntitlementChange] = []
        for group in before where !after.contains(group) {
            let isHidden = !visible.contains(group)
            let consequence =
                isHidden
                ? "items in the old group are errSecItemNotFound for the new build"
                : "the new build still sees the old group by another entitlement"
            if let twin = added.first(where: { name($0) == name(group) && prefix($0) != prefix(group) }) {
                added.removeAll { $0 == twin }
                changes.append(
                    EntitlementChange(
                        .prefixChanged,
                        key: groupsKey,
                        old: group,
                        new: twin,
                        hidesItems: isHidden,
                        "the prefix (team ID) of access group \(name(group)) changed from \(prefix(group)) to "
                            + "\(prefix(twin)): \(consequence)"
                    )
                )
            } else {
                changes.append(
                    EntitlementChange(
                        .groupRemoved,
                        key: groupsKey,
                        old: group,
                        hidesItems: isHidden,
                        "access group \(group) was removed: \(consequence)"
                    )
                )
            }
        }
        for group in added {
            changes.append(
                EntitlementChange(
                    .groupAdded,
                    key: groupsKey,
                    new: group,
                    "access group \(group) was added; items of the old build in other groups are where they were"
                )
            )
        }
        if let first = before.first, let now = after.first, first != now, after.contains(first) {
            changes.append(
                EntitlementChange(
                    .orderChanged,
                    key: groupsKey,
                    old: first,
                    new: now,
                    "the order of the access groups changed: new items go to the first, now \(now) instead of \(first)"
                )
            )
        }
        return changes
    }

    private static func prefix(_ group: String) -> String { String(group.prefix { $0 != "." }) }

    private static func name(_ group: String) -> String {
        guard let dot = group.firstIndex(of: ".") else { return "" }
        return String(group[group.index(after: dot)...])
    }

    // MARK: The rest

    private static func applicationChanges(_ old: PropertyListValue, _ new: PropertyListValue) -> [EntitlementChange] {
        var changes: [EntitlementChange] = []
        let before = CodeIdentity.applicationIdentifier(old)
        let after = CodeIdentity.applicationIdentifier(new)
        if before != after {
            let isHidden = before.map { !CodeIdentity.accessGroups(new).contains($0) } ?? false
            let consequence =
                isHidden
                ? "items in the group of that name are errSecItemNotFound too"
                : "the new build still sees the group of that name"
            changes.append(
                EntitlementChange(
                    .applicationIdentifierChanged,
                    key: applicationKeys[0],
                    old: before,
                    new: after,
                    hidesItems: isHidden,
                    "the application identifier changed from \(before ?? "none") to \(after ?? "none"): \(consequence)"
                )
            )
        }
        let groups = old[applicationGroupsKey]?.texts ?? []
        let now = new[applicationGroupsKey]?.texts ?? []
        if groups != now {
            let gone = groups.filter { !now.contains($0) }
            let isHidden = gone.contains { !CodeIdentity.accessGroups(new).contains($0) }
            let consequence = isHidden ? "; items in \(gone.joined(separator: ", ")) cannot be found any more" : ""
            changes.append(
                EntitlementChange(
                    .applicationGroupsChanged,
                    key: applicationGroupsKey,
                    old: groups.joined(separator: ", "),
                    new: now.joined(separator: ", "),
                    hidesItems: isHidden,
                    "the app groups, which are access groups too, changed\(consequence)"
                )
            )
        }
        return changes
    }

    private static func otherChanges(_ old: PropertyListValue, _ new: PropertyListValue) -> [EntitlementChange] {
        guard case .dictionary(let before) = old, case .dictionary(let after) = new else { return [] }
        let told = Set([groupsKey, applicationGroupsKey] + applicationKeys)
        return Set(before.keys).union(after.keys).subtracting(told).sorted().compactMap { key in
            let (left, right) = (before[key], after[key])
            guard left != right else { return nil }
            let values = (left?.summary, right?.summary)
            if key == "get-task-allow" {
                return EntitlementChange(
                    .debuggingChanged,
                    key: key,
                    old: values.0,
                    new: values.1,
                    "get-task-allow (debugging) changed from \(values.0 ?? "absent") to \(values.1 ?? "absent"): a "
                        + "development and a distribution build were mixed; it hides no items"
                )
            }
            switch values {
            case (nil, let value):
                return EntitlementChange(.entitlementAdded, key: key, new: value, "\(key) was added: \(value ?? "")")
            case (let value, nil):
                let words = "\(key) was removed: \(value ?? "")"
                return EntitlementChange(.entitlementRemoved, key: key, old: value, words)
            case (let left?, let right?):
                return EntitlementChange(
                    .entitlementChanged,
                    key: key,
                    old: left,
                    new: right,
                    "\(key) changed from \(left) to \(right)"
                )
            }
        }
    }
}
