import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// The bundles of a slot's last builds on disk, where the tools that install them find them. They stay from attempt to
/// attempt and are compared with their manifests each time: reading them is less work than writing them again.
package final class LaidOutBuilds: Sendable {
    /// As many as the longest path has.
    private static let limit = 3
    /// Nothing stays for a later attempt when the disk has fewer bytes left.
    private static let roomToStay: Int64 = 1 << 30
    private static let log = Log(component: "bundles")

    private let folder: String
    private let builds: KnownBuilds
    /// The one that was used last comes last.
    private let used = Mutex<[String]>([])

    /// - Parameters:
    ///   - folder: holds a folder for each build; made when it is needed.
    ///   - builds: of the host's cache.
    package init(folder: String, builds: KnownBuilds) {
        self.folder = folder
        self.builds = builds
    }

    /// Where the bundle of a build lies, as its manifest says. Blocks.
    /// - Throws: `ArchiveError`, `FormatError`, `SystemError`
    package func bundle(of build: Digest) throws -> String {
        let manifest = try builds.manifest(build)
        let place = "\(folder)/\(build.hex)"
        used.withLock { used in
            used.removeAll { $0 == build.hex }
            used.append(build.hex)
            used.removeFirst(max(used.count - Self.limit, 0))
        }
        let bundle = "\(place)/\(manifest.name)"
        if access(place, F_OK) == 0 {
            if LaidOutBundle(path: bundle).isIntact(manifest) { return bundle }
            Self.log.notice("a bundle is not what it was and is laid out again", ["build": build.short])
            try Folders.remove(place)
        }
        try leave(Self.limit - 1)
        do {
            return try BundleMaterializer.materialize(manifest, from: builds.cache, to: place)
        } catch let error as SystemError where error.isDiskFull {
            // What lies there for later attempts must not cost this one.
            Self.log.notice("bundles of earlier attempts make room", ["build": build.short])
            try Folders.remove(folder)
            return try BundleMaterializer.materialize(manifest, from: builds.cache, to: place)
        }
    }

    /// Makes room for whatever else wants the disk, where there is little of it. Blocks.
    /// - Throws: `SystemError`
    package func yield() throws {
        guard access(folder, F_OK) == 0, DiskRoom(at: folder).free < Self.roomToStay else { return }
        try Folders.remove(folder)
    }

    /// Removes all but those that were used last.
    private func leave(_ count: Int) throws {
        let order = used.withLock { $0 }
        // One of an earlier process has no place in the order and goes first.
        let there = Folders.names(in: folder).sorted {
            (order.firstIndex(of: $0) ?? -1) < (order.firstIndex(of: $1) ?? -1)
        }
        for name in there.dropLast(count) { try Folders.remove("\(folder)/\(name)") }
    }
}
