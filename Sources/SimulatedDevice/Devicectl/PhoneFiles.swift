import BerthSystem
import Foundation

/// Files of a stand-in phone that devicectl reaches: data containers of apps, and crash logs.
struct PhoneFiles {
    let device: Device
    let arguments: DevicectlArguments

    /// The folder that the options name.
    private func domain() throws -> String {
        switch try arguments.required("--domain-type") {
        case "appDataContainer":
            let bundle = try arguments.required("--domain-identifier")
            guard let application = try InstalledApplications(device.folder).application(bundle) else {
                throw DevicectlError.fileService("There is no data container of \(bundle).")
            }
            return application.dataPath(device.folder)
        case "systemCrashLogs":
            let folder = "\(device.folder.data)/Library/Logs/CrashReporter"
            try DurableFile.makeFolder(folder)
            return folder
        case let other: throw DevicectlArguments.UsageError(message: "The domain type '\(other)' is not supported")
        }
    }

    /// A place in the domain, which a path must not leave.
    private func place(_ path: String) throws -> String {
        let parts = path.split(separator: "/")
        guard !parts.isEmpty, !parts.contains("..") else {
            throw DevicectlError.fileService("\(path.debugDescription) names no file of the domain.")
        }
        return "\(try domain())/\(parts.joined(separator: "/"))"
    }

    func list() throws -> [String: Any] {
        var folder = try domain()
        if let below = arguments.value("--subdirectory") { folder = try place(below) }
        var files: [[String: Any]] = []
        let walk = FileManager.default.enumerator(atPath: folder)
        while let name = walk?.nextObject() as? String {
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0 else { continue }
            let type = status.st_mode & S_IFMT
            let moment = Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
            let milliseconds = String(format: "%03d", status.st_mtim.tv_nsec / 1_000_000)
            files.append([
                "metadata": [
                    "extendedAttributes": [String: String](),
                    "lastModDate": "\(moment.formatted(.iso8601).dropLast()).\(milliseconds)Z",
                    "permissions": Int(status.st_mode & 0o777), "size": Int(status.st_size),
                    "ownerUid": 501, "ownerGid": 501,
                ],
                "name": name, "relativePath": name,
                "resources": [
                    "isDirectory": type == S_IFDIR, "isSymbolicLink": type == S_IFLNK,
                    "isHidden": (name as NSString).lastPathComponent.hasPrefix("."), "isReadable": true,
                    "isWritable": true,
                ],
            ])
        }
        return ["domain": try arguments.required("--domain-type"), "files": files]
    }

    func copyFrom() throws -> [String: Any] {
        let source = try place(arguments.required("--source"))
        var destination = URL(fileURLWithPath: try arguments.required("--destination")).path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: destination, isDirectory: &isFolder), isFolder.boolValue {
            destination += "/\((source as NSString).lastPathComponent)"
        }
        try copy(source, to: destination)
        return try copied(to: destination)
    }

    func copyTo() throws -> [String: Any] {
        let source = URL(fileURLWithPath: try arguments.required("--source")).path
        guard FileManager.default.fileExists(atPath: source) else { throw DevicectlError.noFile(source) }
        let destination = try place(arguments.required("--destination"))
        try DurableFile.makeFolder((destination as NSString).deletingLastPathComponent)
        try copy(source, to: destination)
        return try copied(to: destination)
    }

    private func copied(to destination: String) throws -> [String: Any] {
        [
            "destination": "file://\(destination)", "source": try arguments.required("--source"),
            "domain": try arguments.required("--domain-type"),
            "domainIdentifier": arguments.value("--domain-identifier") ?? "",
        ]
    }

    /// Copies a regular file with its modification date.
    private func copy(_ source: String, to destination: String) throws {
        var status = stat()
        guard lstat(source, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw DevicectlError.fileService("\((source as NSString).lastPathComponent) is no file.")
        }
        do {
            let input = try FileDescriptor(path: source, flags: O_RDONLY | O_NOFOLLOW)
            let output = try FileDescriptor(path: destination, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
            while true {
                let part = try input.read(upTo: 1 << 18)
                if part.isEmpty { break }
                try output.write(part)
            }
            var times = [status.st_atim, status.st_mtim]
            futimens(output.number, &times)
        } catch {
            throw DevicectlError.fileService("\(error)")
        }
    }
}
