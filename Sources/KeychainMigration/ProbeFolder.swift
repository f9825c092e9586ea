import Foundation

/// `Documents/berth` in the app's data container: the status files, and under hidden names what the probe keeps
/// between launches. It lives and dies with the data container, which an install over an old build keeps.
struct ProbeFolder {
    private let path: String

    init(documents: URL) {
        path = documents.appendingPathComponent("berth", isDirectory: true).path
    }

    /// Creates the folder if it is not there.
    func prepare() throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw ProbeFolderError(operation: "create", path: path, code: nil, cause: "\(error)")
        }
    }

    /// Counts this launch, durably, and returns its number, from 1.
    ///
    /// The numbers of the status files count too, so that a damaged counter cannot make a launch overwrite an earlier
    /// one's file.
    func countLaunch() throws -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let written = names.compactMap { name in name.split(separator: "-").first.flatMap { Int($0) } }.max() ?? 0
        let next = max(number(in: ".launch") ?? 0, written) + 1
        try replace(".launch", with: Data("\(next)\n".utf8))
        return next
    }

    /// The nonce that an earlier launch kept.
    var nonce: ProbeNonce? { text(in: ".nonce").flatMap { ProbeNonce($0) } }

    func keep(_ nonce: ProbeNonce) throws {
        if self.nonce != nonce {
            try replace(".nonce", with: Data((nonce.digits + "\n").utf8))
        }
    }

    /// The epoch that an earlier launch left.
    var epochMarker: Int? { number(in: ".epoch") }

    func leave(epochMarker: Int) throws {
        try replace(".epoch", with: Data("\(epochMarker)\n".utf8))
    }

    /// How many bystanders an earlier launch added.
    var bystanders: Int { number(in: ".bystanders") ?? 0 }

    func leave(bystanders: Int) throws {
        try replace(".bystanders", with: Data("\(bystanders)\n".utf8))
    }

    /// The launch that was ended on purpose, until a status file tells of it.
    var interruption: StatusFile.Interruption? {
        let parts = text(in: ".interrupted")?.split(separator: " ") ?? []
        guard parts.count == 2, let launch = Int(parts[0]) else { return nil }
        return StatusFile.Interruption(launch: launch, point: String(parts[1]))
    }

    func leave(_ interruption: StatusFile.Interruption) throws {
        try replace(".interrupted", with: Data("\(interruption.launch) \(interruption.point)\n".utf8))
    }

    /// Writes the status file of a launch under its final name, whole or not at all.
    ///
    /// - Returns: where it lies.
    func publish(_ status: StatusFile) throws -> URL {
        let name = "\(status.launch)-\(status.phase).json"
        try replace(name, with: try status.encoded())
        if status.interrupted != nil { unlink(path + "/.interrupted") }
        return URL(fileURLWithPath: path).appendingPathComponent(name)
    }

    private func text(in name: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path + "/" + name), data.count <= 64 else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    private func number(in name: String) -> Int? {
        text(in: name).flatMap { Int($0) }
    }

    /// Writes a temporary file with a dot-name, brings it to disk and renames it.
    private func replace(_ name: String, with data: Data) throws {
        let final = path + "/" + name
        let temporary = path + "/." + name + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw failure("open", temporary) }
        do {
            defer { close(file) }
            try put(data, into: file, temporary)
            guard fsync(file) == 0 else { throw failure("sync", temporary) }
        }
        guard rename(temporary, final) == 0 else { throw failure("rename", final) }
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("open", path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure("sync", path) }
    }

    private func put(_ data: Data, into file: Int32, _ name: String) throws {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure("write", name) }
            rest = rest.dropFirst(written)
        }
    }

    private func failure(_ operation: String, _ path: String) -> ProbeFolderError {
        let code = errno
        return ProbeFolderError(operation: operation, path: path, code: code, cause: String(cString: strerror(code)))
    }
}

/// A file operation of the probe that failed.
struct ProbeFolderError: Error, CustomStringConvertible {
    var operation: String
    var path: String
    var code: Int32?
    var cause: String

    var description: String {
        "cannot \(operation) \(path): \(cause)" + (code.map { " (errno \($0))" } ?? "")
    }
}
