/// Who an executable says it is, and what it is entitled to: nothing of the signing material itself (S2).
package struct CodeIdentity: Sendable, Hashable {
    /// Where the entitlements were found.
    package enum Source: String, Sendable, Hashable, Codable {
        /// `__TEXT,__entitlements` or `__ents_der`: a simulator build.
        case section
        /// The code signature: a device build.
        case signature
        /// A file beside the executable: a build for simulated devices.
        case file
    }

    /// From the code directory.
    package let identifier: String?
    package let teamIdentifier: String?
    /// A dictionary; nil for an executable without entitlements.
    package let entitlements: PropertyListValue?
    /// Nil without entitlements.
    package let source: Source?
    /// What `codesign` can see of them: those of the signature, which a simulator build keeps apart from its own.
    package let signedEntitlements: PropertyListValue?
    /// Whether the entitlements could not be read, so that their absence says nothing; a note says why.
    package let isUnreadable: Bool
    /// What a person should know: forms that differ, slices that differ, an identifier that contradicts.
    package let notes: [String]

    package init(
        identifier: String? = nil,
        teamIdentifier: String? = nil,
        entitlements: PropertyListValue?,
        source: Source?,
        signedEntitlements: PropertyListValue? = nil,
        isUnreadable: Bool = false,
        notes: [String] = []
    ) {
        self.identifier = identifier
        self.teamIdentifier = teamIdentifier
        self.entitlements = entitlements
        self.source = source
        self.signedEntitlements = signedEntitlements
        self.isUnreadable = isUnreadable
        self.notes = notes
    }

    /// Reads an executable. All slices are read; the first one with entitlements speaks, and slices that differ are noted.
    /// - Throws: `CodeSignatureError`, and whatever the source's reading throws
    package init(executable source: ByteSource) throws {
        let file = try MachOFile(source)
        let slices = try file.slices.map { ($0, try CodeIdentity(slice: $0)) }
        let speaking = slices.first { $0.1.entitlements != nil } ?? slices.first { $0.1.identifier != nil }
        guard let (chosen, identity) = speaking ?? slices.first else { throw CodeSignatureError.notMachO }
        var notes = identity.notes
        for (slice, other) in slices where slice.architecture != chosen.architecture && other != identity {
            if let difference = Self.difference(identity.entitlements, other.entitlements) {
                notes.append(
                    "the entitlements of \(chosen.architecture) and \(slice.architecture) differ: \(difference)"
                )
            }
            if other.teamIdentifier != identity.teamIdentifier {
                notes.append("\(chosen.architecture) and \(slice.architecture) are signed for different teams")
            }
        }
        self.init(
            identifier: identity.identifier,
            teamIdentifier: identity.teamIdentifier,
            entitlements: identity.entitlements,
            source: identity.source,
            signedEntitlements: identity.signedEntitlements,
            notes: notes
        )
    }

    /// One slice: a simulator build's entitlements stand in a section, a device build's in the signature.
    /// - Throws: `CodeSignatureError`
    package init(slice: MachOSlice) throws {
        let section = try Self.form(slice.embeddedEntitlements, slice.embeddedDER, in: "section")
        let signed = try Self.form(slice.signature?.entitlements, slice.signature?.entitlementsDER, in: "signature")
        let isSimulated = section.value != nil
        self.init(
            identifier: slice.signature?.codeDirectory?.identifier,
            teamIdentifier: slice.signature?.codeDirectory?.teamIdentifier,
            entitlements: isSimulated ? section.value : signed.value,
            source: isSimulated ? .section : (signed.value == nil ? nil : .signature),
            signedEntitlements: signed.value,
            notes: section.notes + signed.notes
        )
    }

    /// The XML form, or the DER form where there is no other, with a note when they differ.
    private static func form(
        _ xml: ByteWindow?,
        _ der: ByteWindow?,
        in place: String
    ) throws -> (value: PropertyListValue?, notes: [String]) {
        let written = try xml.map(XMLPropertyList.read)
        let encoded = try der.map(DERPropertyList.read)
        if let xml, let written {
            guard case .dictionary = written else { throw xml.malformed(0, "the entitlements are no dictionary") }
        }
        guard let written, let encoded else { return (written ?? encoded, []) }
        let difference = Self.difference(written, encoded)
        return (written, difference.map { ["the \(place)'s XML and DER entitlements differ: \($0)"] } ?? [])
    }

    /// How two dictionaries of entitlements differ, by their keys; nil when they are equal.
    package static func difference(_ left: PropertyListValue?, _ right: PropertyListValue?) -> String? {
        guard left != right else { return nil }
        guard case .dictionary(let one) = left, case .dictionary(let other) = right else {
            return left == nil || right == nil ? "only one of them has any" : "they are of different kinds"
        }
        let keys = Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }.sorted()
        return keys.joined(separator: ", ")
    }
}

extension CodeIdentity {
    /// `keychain-access-groups` in order, then the application identifier: the groups whose items the build sees. The
    /// first is the one that new items go to.
    package var accessGroups: [String] { Self.accessGroups(entitlements) }

    static func accessGroups(_ entitlements: PropertyListValue?) -> [String] {
        var groups = entitlements?["keychain-access-groups"]?.texts ?? []
        if let identifier = applicationIdentifier(entitlements), !groups.contains(identifier) {
            groups.append(identifier)
        }
        for group in entitlements?["com.apple.security.application-groups"]?.texts ?? [] where !groups.contains(group) {
            groups.append(group)
        }
        return groups
    }

    static func applicationIdentifier(_ entitlements: PropertyListValue?) -> String? {
        entitlements?["application-identifier"]?.text ?? entitlements?["com.apple.application-identifier"]?.text
    }
}
