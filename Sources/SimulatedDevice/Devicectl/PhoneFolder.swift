import BerthSystem
import Foundation

/// The folder with the stand-in phones of a host.
package struct PhoneFolder: Sendable {
    /// The environment variable that names it.
    package static let variable = "BERTH_SIM_PHONES"

    package let path: String

    /// The folder that `BERTH_SIM_PHONES` names, else the user's own; made if it is not there.
    ///
    /// - Throws: `SystemError`
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        if let named = environment[Self.variable], !named.isEmpty {
            path = URL(fileURLWithPath: named).path
        } else {
            path = "\(environment["HOME"] ?? NSHomeDirectory())/.local/share/berth-sim/phones"
        }
        try DurableFile.makeFolder(path)
    }

    /// All phones, in the order of their names.
    package func phones() -> [Phone] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let phones = names.filter { !$0.hasPrefix(".") }.compactMap { name -> Phone? in
            let folder = "\(path)/\(name)"
            guard let bytes = try? DurableFile.read("\(folder)/phone.plist", limit: 1 << 16),
                let record = try? PropertyListDecoder().decode(Phone.Record.self, from: Data(bytes))
            else { return nil }
            return Phone(record: record, path: folder)
        }
        return phones.sorted { ($0.record.name, $0.record.udid) < ($1.record.name, $1.record.udid) }
    }

    /// The phone of this hardware UDID, identifier or name.
    func phone(_ name: String) -> Phone? {
        phones().first { [$0.record.udid, $0.record.identifier, $0.record.name].contains(name) }
    }

    /// Makes a phone with the newest runtime, no apps and an empty keychain; it appears whole or not at all.
    ///
    /// - Parameters:
    ///   - name: what its owner calls it.
    ///   - udid: letters, digits and dashes, at most 64; nil: a new one.
    /// - Returns: the phone, which its first call boots.
    /// - Throws: `SimulatorError`, `SystemError`
    package func create(name: String, udid: String?) throws -> Phone {
        let udid = udid ?? "00008150-" + Hex.encode(RandomBytes.make(8)).uppercased()
        guard !udid.isEmpty, udid.utf8.count <= 64, !udid.hasPrefix("-"),
            udid.utf8.allSatisfy({ $0 == 0x2D || $0 < 0x80 && Character(UnicodeScalar($0)).isHexOrLetter })
        else {
            throw SimulatorError(
                domain: nil,
                code: 64,
                ["\(udid.debugDescription) is no UDID: letters, digits, dashes"]
            )
        }
        guard phone(udid) == nil else {
            throw SimulatorError(domain: nil, code: 1, ["There is a phone \(udid) already in \(path)"])
        }
        guard let runtime = try RuntimeFolder().runtimes().last else { throw SimulatorError.missingRuntime("iOS") }
        let partial = "\(path)/.creating-\(udid)"
        FileTree.removeIfPresent(partial)
        try DurableFile.makeFolder("\(partial)/set")
        let device = try DeviceSet(path: "\(partial)/set").create(name: name, type: .linuxPhone, runtime: runtime)
        let record = Phone.Record(
            udid: udid,
            identifier: UUID().uuidString,
            name: name,
            device: device.udid,
            database: UUID().uuidString
        )
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        try DurableFile.replace("\(partial)/phone.plist", with: Array(encoder.encode(record)))
        try DurableFile.rename(partial, to: "\(path)/\(udid)")
        return Phone(record: record, path: "\(path)/\(udid)")
    }
}

extension Character {
    fileprivate var isHexOrLetter: Bool { isLetter || isNumber }
}
