import BerthCore
import BerthSystem
import Foundation

/// `Documents/berth` in an app's data container: untrusted, so no link is followed, nothing but regular files is read,
/// and no more than the limit.
struct StatusFolder {
    /// The data container's path.
    let container: String

    /// Reads a status file.
    func read(_ name: String) -> StatusFinding {
        do {
            guard let folder = try open() else { return .nothing }
            let number = openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard number >= 0 else {
                let code = errno
                if code == ENOENT { return .nothing }
                return .unusable(
                    code == ELOOP ? "it is a symbolic link" : SystemError(operation: "open it", code: code).description
                )
            }
            let file = FileDescriptor(adopting: number)
            var status = stat()
            guard fstat(number, &status) == 0 else { return .unusable("\(SystemError(operation: "look at it"))") }
            guard status.st_mode & S_IFMT == S_IFREG else { return .unusable("it is no regular file") }
            var bytes: [UInt8] = []
            while bytes.count <= StatusFile.sizeLimit {
                let part = try file.read(upTo: FileDescriptor.pieceSize)
                if part.isEmpty { return .file(bytes) }
                bytes += part
            }
            return .oversized(max(Int64(status.st_size), Int64(bytes.count)))
        } catch {
            return .unusable("\(error)")
        }
    }

    /// What the probe keeps between launches.
    var trace: ContinuityFacts.ProbeTrace {
        ContinuityFacts.ProbeTrace(launch: number(".launch").flatMap { Int($0) }, epoch: number(".epoch"))
    }

    private func number(_ name: String) -> UInt64? {
        guard case .file(let bytes) = read(name), bytes.count <= 64 else { return nil }
        return UInt64(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Names of status files that are there.
    func names() -> Set<String> {
        guard (try? open()) != nil else { return [] }
        return Set(Folders.names(in: container + "/Documents/berth").filter(Self.isStatusName))
    }

    /// Whether a name is made like that of a status file: number, dash, phase.
    static func isStatusName(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && (1...9).contains(parts[0].utf8.count)
            && parts[0].utf8.allSatisfy { (48...57).contains($0) }
            && LaunchPhase.allCases.contains { parts[1] == "\($0.rawValue).json" }
    }

    /// The folder, through no link; nil when it is not there.
    private func open() throws -> FileDescriptor? {
        var folder = try FileDescriptor(path: container, flags: O_RDONLY | O_DIRECTORY)
        for part in ["Documents", "berth"] {
            let number = openat(folder.number, part, O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC)
            guard number >= 0 else {
                if errno == ENOENT { return nil }
                throw SystemError(operation: "open \(part) in the data container", code: errno)
            }
            folder = FileDescriptor(adopting: number)
        }
        return folder
    }
}
