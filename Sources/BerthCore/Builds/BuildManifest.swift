/// The immutable tree of a build (docs/formats.md). Its canonical bytes are a blob, whose digest is the build's ID.
package struct BuildManifest: Sendable, Hashable, Codable {
    /// One file, folder or symbolic link of the tree.
    package struct Entry: Sendable, Hashable, Codable {
        /// What the entry is.
        package enum EntryType: String, Sendable, Codable {
            case file
            case folder
            case link
        }

        /// Relative path with `/`.
        package let path: String
        package let type: EntryType
        /// Bytes; files only.
        package let size: Int64?
        /// Present and true for a file with the owner's execute bit.
        package let executable: Bool?
        /// Files only.
        package let digest: Digest?
        /// Links only.
        package let target: String?

        package static func file(_ path: String, size: Int64, executable: Bool, digest: Digest) -> Entry {
            Entry(
                path: path,
                type: .file,
                size: size,
                executable: executable ? true : nil,
                digest: digest,
                target: nil
            )
        }

        package static func folder(_ path: String) -> Entry {
            Entry(path: path, type: .folder, size: nil, executable: nil, digest: nil, target: nil)
        }

        package static func link(_ path: String, target: String) -> Entry {
            Entry(path: path, type: .link, size: nil, executable: nil, digest: nil, target: target)
        }
    }

    /// 1
    package let format: Int
    /// The bundle's folder name, such as `correct.app`.
    package let name: String
    /// Sorted by the UTF-8 bytes of their paths.
    package let entries: [Entry]

    package init(name: String, entries: [Entry]) {
        format = 1
        self.name = name
        self.entries = entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Reads and checks the canonical bytes.
    /// - Throws: `FormatError` for anything that could not have come from a well-behaved archiver: paths that leave the
    ///   tree, disorder, repeats, entries without their fields.
    package static func parse(_ bytes: [UInt8]) throws(FormatError) -> BuildManifest {
        let manifest = try CanonicalJSON.decode(BuildManifest.self, from: bytes, document: "build manifest")
        try manifest.check()
        return manifest
    }

    /// The distinct blobs that the tree needs, with their sizes.
    package var blobs: [BlobReference] {
        var seen: Set<Digest> = []
        return entries.compactMap { entry in
            guard let digest = entry.digest, let size = entry.size, seen.insert(digest).inserted else { return nil }
            return BlobReference(digest: digest, size: size)
        }
    }

    private func check() throws(FormatError) {
        func refuse(_ place: String, _ problem: String) -> FormatError {
            FormatError(document: "build manifest", place: place, problem: problem)
        }
        guard format == 1 else { throw refuse("format", "version \(format) is not known here; 1 is") }
        guard Self.isPlainName(name), name.hasSuffix(".app") else {
            throw refuse("name", "\(name.debugDescription) must be a folder name that ends with .app")
        }
        var previous: String?
        var folders: Set<Substring> = []
        for (index, entry) in entries.enumerated() {
            let place = "entries[\(index)]"
            guard entry.path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy(Self.isPlainName) else {
                throw refuse(place, "the path \(entry.path.debugDescription) is not plainly inside the tree")
            }
            if let previous, !previous.utf8.lexicographicallyPrecedes(entry.path.utf8) {
                throw refuse(place, "\(entry.path.debugDescription) is out of order or repeated")
            }
            previous = entry.path
            if let slash = entry.path.lastIndex(of: "/"), !folders.contains(entry.path[..<slash]) {
                throw refuse(place, "\(entry.path.debugDescription) does not lie in a folder of the manifest")
            }
            if entry.type == .folder { folders.insert(entry.path[...]) }
            switch entry.type {
            case .file:
                guard let size = entry.size, size >= 0, entry.digest != nil, entry.target == nil else {
                    throw refuse(place, "a file needs size and digest and has no target")
                }
            case .folder:
                guard entry.size == nil, entry.digest == nil, entry.target == nil else {
                    throw refuse(place, "a folder has a path only")
                }
            case .link:
                guard let target = entry.target, entry.digest == nil, Self.staysInside(entry.path, target) else {
                    throw refuse(place, "a link needs a relative target inside the tree")
                }
            }
        }
    }

    private static func isPlainName(_ part: some StringProtocol) -> Bool {
        !part.isEmpty && part != "." && part != ".." && !part.contains("/") && !part.utf8.contains(0)
    }

    /// Whether a link at `path` with `target` resolves to a place within the tree.
    package static func staysInside(_ path: String, _ target: String) -> Bool {
        guard !target.isEmpty, !target.hasPrefix("/"), !target.utf8.contains(0) else { return false }
        var depth = path.split(separator: "/").count - 1
        for part in target.split(separator: "/") {
            if part == ".." { depth -= 1 } else if part != "." { depth += 1 }
            if depth < 0 { return false }
        }
        return true
    }
}
