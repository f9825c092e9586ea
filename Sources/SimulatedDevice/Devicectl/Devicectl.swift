import BerthSystem
import Foundation

/// A stand-in for Apple's `devicectl`, for the stand-in phones of this host: its verbs, its JSON files and its errors, as
/// far as a device farm uses them. It says in every report that it is one.
package struct Devicectl {
    /// What `--version` prints.
    package static let version = "berth-sim version \(BerthSim.version), platform stand-in"

    /// The verbs, with how many words follow each.
    private static let verbs: [(name: String, words: ClosedRange<Int>)] = [
        ("list devices", 0...0),
        ("device info details", 0...0), ("device info lockState", 0...0), ("device info ddiServices", 0...0),
        ("device info apps", 0...0), ("device info files", 0...0), ("device info processes", 0...0),
        ("device install app", 1...1), ("device uninstall app", 1...1),
        ("device process launch", 1...1000), ("device process terminate", 0...0),
        ("device copy from", 0...0), ("device copy to", 0...0),
    ]

    /// Runs one command.
    ///
    /// - Parameter arguments: what follows the tool's name.
    /// - Returns: the exit status: 0, 1 for every failure, 64 for a wrong call.
    package static func run(_ arguments: [String]) -> Int32 {
        if arguments == ["--version"] || arguments == ["version"] {
            StandardStreams.writeOutput("\(version)\n")
            return 0
        }
        do {
            return try Devicectl(arguments).run()
        } catch let error as DevicectlArguments.UsageError {
            StandardStreams.writeError("Error: \(error.message)\n\(help)\n")
            return 64
        } catch {
            StandardStreams.writeError("ERROR: \(error)\n")
            return 1
        }
    }

    private static var help: String {
        "Usage: devicectl <verb> --device <udid> [--json-output <path>] [--quiet] [--timeout <seconds>] ...\n"
            + "Verbs: " + verbs.map(\.name).joined(separator: ", ")
    }

    private let arguments: DevicectlArguments
    private let verb: String
    private let words: [String]

    private init(_ given: [String]) throws {
        let arguments = try DevicectlArguments(given)
        guard
            let verb = Self.verbs.first(where: { verb in
                arguments.words.starts(with: verb.name.split(separator: " ").map(String.init))
            })
        else {
            throw DevicectlArguments.UsageError(message: "Unknown verb '\(arguments.words.joined(separator: " "))'")
        }
        words = Array(arguments.words.dropFirst(verb.name.split(separator: " ").count))
        guard verb.words.contains(words.count) else {
            throw DevicectlArguments.UsageError(message: "'\(verb.name)' takes other arguments than \(words)")
        }
        self.verb = verb.name
        self.arguments = arguments
    }

    private func run() throws -> Int32 {
        let folder = try PhoneFolder()
        guard verb != "list devices" else {
            let devices = try folder.phones().compactMap { phone -> [String: Any]? in
                let behaviour = try PhoneBehaviour.of(phone)
                return behaviour.absent == true ? nil : try PhoneDescription(phone, behaviour).json
            }
            return try report(result: ["devices": devices], behaviour: nil)
        }
        let name = try arguments.required("--device")
        guard let phone = folder.phone(name) else { return try report(error: .deviceNotFound, behaviour: nil) }
        let behaviour = try PhoneBehaviour.of(phone)
        if let delay = behaviour.delay { Thread.sleep(forTimeInterval: delay) }
        if behaviour.hang?.contains(verb) == true {
            while true { sleep(3600) }
        }
        do {
            return try report(result: try perform(phone, behaviour), behaviour: behaviour)
        } catch let error as DevicectlError {
            return try report(error: error, behaviour: behaviour)
        } catch let error as SimulatorError {
            return try report(error: .device(error), behaviour: behaviour)
        }
    }

    private func perform(_ phone: Phone, _ behaviour: PhoneBehaviour) throws -> [String: Any] {
        if behaviour.absent == true { throw DevicectlError.deviceNotFound }
        if behaviour.unpaired == true { throw DevicectlError.notPaired }
        if behaviour.takesTunnelError(verb, phone) { throw DevicectlError.freshTunnel }
        var result: [String: Any]
        switch verb {
        case "device info details": return try PhoneDescription(phone, behaviour).json
        case "device info lockState":
            result = ["passcodeRequired": behaviour.locked == true, "unlockedSinceBoot": true]
        case "device info ddiServices":
            if behaviour.developerModeOff == true || behaviour.noDeveloperImage == true {
                throw DevicectlError.noDeveloperImage
            }
            result = ["isUsable": true]
        default:
            if behaviour.developerModeOff == true { throw DevicectlError.capabilityMissing(capability) }
            result = try performOnDevice(phone, behaviour)
        }
        result["deviceIdentifier"] = phone.record.identifier
        return result
    }

    private func performOnDevice(_ phone: Phone, _ behaviour: PhoneBehaviour) throws -> [String: Any] {
        let applications = PhoneApplications(phone: phone, device: try phone.device())
        let files = PhoneFiles(device: applications.device, arguments: arguments)
        switch verb {
        case "device info apps": return try applications.list(bundle: arguments.value("--bundle-id"))
        case "device info processes": return try applications.processes()
        case "device info files": return try files.list()
        case "device install app": return try applications.install(words[0], refusal: behaviour.refuseInstall)
        case "device uninstall app": return try applications.uninstall(words[0])
        case "device process launch":
            if behaviour.locked == true { throw DevicectlError.locked(words[0]) }
            return try applications.launch(words[0], Array(words.dropFirst()), arguments)
        case "device process terminate": return try applications.terminate(arguments)
        case "device copy from": return try files.copyFrom()
        default: return try files.copyTo()
        }
    }

    private var capability: String {
        switch verb {
        case "device install app": "Install Application"
        case "device uninstall app": "Uninstall Application"
        case "device process launch": "Launch Application"
        default: "Developer Services"
        }
    }

    // MARK: Reports

    private func report(result: [String: Any], behaviour: PhoneBehaviour?) throws -> Int32 {
        try write(["info": information("success"), "result": result], behaviour)
        if !arguments.has("--quiet") { StandardStreams.writeOutput("\(verb): done by \(Self.version)\n") }
        return 0
    }

    private func report(error: DevicectlError, behaviour: PhoneBehaviour?) throws -> Int32 {
        try write(["info": information("failed"), "error": error.json], behaviour)
        StandardStreams.writeError(error.text)
        return 1
    }

    private func information(_ outcome: String) -> [String: Any] {
        [
            "arguments": ["devicectl"] + arguments.all, "environment": [String: String](), "jsonVersion": 2,
            "commandType": "devicectl.\(verb.replacingOccurrences(of: " ", with: "."))", "outcome": outcome,
            "version": Self.version,
        ]
    }

    private func write(_ report: [String: Any], _ behaviour: PhoneBehaviour?) throws {
        let data = try JSONSerialization.data(withJSONObject: report, options: [.prettyPrinted, .sortedKeys])
        var bytes = Array(data)
        switch behaviour?.json?[verb] {
        case .missing: return
        case .empty: bytes = []
        case .partial: bytes = Array(bytes.prefix(bytes.count / 2))
        case nil: break
        }
        switch arguments.value("--json-output") {
        case "-": StandardStreams.writeOutput(String(decoding: bytes, as: UTF8.self) + "\n")
        case let path?:
            // Not in one step: whoever reads too early sees part of it, as with Apple's tool.
            let file = try FileDescriptor(path: path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
            try file.write(bytes)
        case nil: break
        }
    }
}
