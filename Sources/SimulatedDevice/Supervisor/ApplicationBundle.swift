import BerthSystem
import Foundation

/// An app bundle on disk, read and checked as at its installation.
struct ApplicationBundle {
    let path: String
    let identifier: String
    let executable: String
    let information: [String: Any]

    /// The plist in a bundle that holds its entitlements.
    static let entitlementsName = "archived-expanded-entitlements.xcent"

    private static let longestPropertyList = 16 << 20

    /// Reads a bundle that can be installed.
    ///
    /// - Throws: `SimulatorError` that says what is wrong with it.
    init(path: String) throws {
        self.path = path
        var status = stat()
        guard lstat(path, &status) == 0 else { throw SimulatorError.missingBundle(path) }
        guard status.st_mode & S_IFMT == S_IFDIR, path.hasSuffix(".app") else { throw SimulatorError.notABundle(path) }
        information = try Self.information(path)
        guard let identifier = information["CFBundleIdentifier"] as? String, Self.isUsable(identifier) else {
            throw SimulatorError.missingBundleIdentifier(path)
        }
        self.identifier = identifier
        guard let name = information["CFBundleExecutable"] as? String, !name.isEmpty, !name.contains("/") else {
            throw SimulatorError.unusableExecutable(path, reason: "Info.plist names none (CFBundleExecutable)")
        }
        executable = "\(path)/\(name)"
        try checkExecutable()
    }

    /// An identifier becomes a part of messages and a key of the list of apps, never of a path.
    private static func isUsable(_ identifier: String) -> Bool {
        !identifier.isEmpty && identifier.utf8.count <= 255
            && identifier.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" || $0 == "_" }
    }

    private static func information(_ path: String) throws -> [String: Any] {
        let file = "\(path)/Info.plist"
        let bytes: [UInt8]
        do {
            bytes = try DurableFile.read(file, limit: longestPropertyList)
        } catch {
            throw SimulatorError.damagedInformation(path, reason: "\(error)")
        }
        let list = try? PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        guard let information = list as? [String: Any] else {
            throw SimulatorError.damagedInformation(path, reason: "\(file) is no property list with a dictionary")
        }
        return information
    }

    private func checkExecutable() throws {
        var status = stat()
        guard stat(executable, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SimulatorError.unusableExecutable(path, reason: "\(executable) is no file")
        }
        guard status.st_mode & S_IXUSR != 0 else {
            throw SimulatorError.unusableExecutable(path, reason: "\(executable) is not executable")
        }
        let contains = try ExecutableFormat(path: executable)
        guard contains == .native else {
            throw SimulatorError.notRunnable(
                name: displayName,
                executable: executable,
                contains: contains.text,
                device: "linux-simulated"
            )
        }
    }

    /// The name that a person sees.
    var displayName: String {
        information["CFBundleDisplayName"] as? String ?? information["CFBundleName"] as? String
            ?? (executable as NSString).lastPathComponent
    }

    /// The entitlements that the bundle carries; none without the file.
    ///
    /// - Throws: `SystemError`, or an error of the property list.
    static func entitlements(_ path: String) throws -> [String: Any]? {
        do {
            let bytes = try DurableFile.read("\(path)/\(entitlementsName)", limit: longestPropertyList)
            let list = try PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
            return list as? [String: Any] ?? [:]
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        }
    }
}
