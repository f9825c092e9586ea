import BerthSystem
import Foundation

/// The apps of a stand-in phone and their processes.
struct PhoneApplications {
    let phone: Phone
    let device: Device

    private static let childPrefix = "DEVICECTL_CHILD_"
    private static let springBoard = "/System/Library/CoreServices/SpringBoard.app/SpringBoard"

    /// Where a phone says that its containers lie.
    private static func phonePath(_ path: String, _ device: Device) -> String {
        path.replacingOccurrences(of: device.folder.bundles, with: "/private/var/containers/Bundle/Application")
    }

    func list(bundle: String?) throws -> [String: Any] {
        let applications = try InstalledApplications(device.folder).all().filter {
            bundle == nil || $0.bundleIdentifier == bundle
        }
        let apps = applications.map { application -> [String: Any] in
            let path = application.bundlePath(device.folder)
            let information = (try? ApplicationBundle(path: path))?.information ?? [:]
            return [
                "appClip": false, "builtByDeveloper": true, "bundleIdentifier": application.bundleIdentifier,
                "bundleVersion": information["CFBundleVersion"] as? String ?? "",
                "version": information["CFBundleShortVersionString"] as? String ?? "",
                "containerAccessible": true, "defaultApp": false, "hidden": false, "internalApp": false,
                "name": (application.bundleName as NSString).deletingPathExtension, "removable": true,
                "url": "file://\(Self.phonePath(path, device))/",
            ]
        }
        return [
            "apps": apps, "defaultAppsIncluded": false, "hiddenAppsIncluded": false, "internalAppsIncluded": false,
            "removableAppsIncluded": true,
        ]
    }

    func install(_ path: String, refusal: PhoneBehaviour.Refusal?) throws -> [String: Any] {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: path) else { throw DevicectlError.noFile(path) }
        if let refusal {
            throw DevicectlError.installFailed(
                DevicectlError(domain: refusal.domain, code: refusal.code, description: refusal.text)
            )
        }
        let bundle: ApplicationBundle
        do {
            bundle = try ApplicationBundle(path: path)
            let set = try DeviceSet(path: phone.set)
            try ApplicationVerbs(set: set).install(Arguments([device.udid, path], verb: "install"))
        } catch let error as SimulatorError {
            throw DevicectlError.installFailed(.device(error))
        }
        guard let installed = try InstalledApplications(device.folder).application(bundle.identifier) else {
            throw DevicectlError.fileService("\(bundle.identifier) is not there after its installation")
        }
        let place = Self.phonePath(installed.bundlePath(device.folder), device)
        return [
            "installedApplications": [
                [
                    "bundleID": bundle.identifier, "databaseSequenceNumber": 1, "databaseUUID": phone.record.database,
                    "installationURL": "file://\(place)/", "launchServicesIdentifier": "unknown",
                    "options": [String: String](),
                ]
            ]
        ]
    }

    /// Removes an app with its data. Its keychain items stay, as on any phone.
    func uninstall(_ bundle: String) throws -> [String: Any] {
        _ = try ControlClient(device).ask(.uninstall(bundle: bundle))
        return ["uninstalledApplications": [["bundleID": bundle]]]
    }

    // MARK: Processes

    func launch(_ bundle: String, _ appArguments: [String], _ arguments: DevicectlArguments) throws -> [String: Any] {
        let inherited = ProcessInfo.processInfo.environment.filter { $0.key.hasPrefix(Self.childPrefix) }
        var environment: [String: String] = [:]
        for (key, value) in inherited { environment[String(key.dropFirst(Self.childPrefix.count))] = value }
        if let text = arguments.value("--environment-variables") {
            guard let given = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else {
                throw DevicectlArguments.UsageError(message: "The value of '--environment-variables' is no JSON object")
            }
            environment.merge(given) { _, given in given }
        }
        let request = LaunchRequest(
            bundle: bundle,
            arguments: appArguments,
            environment: environment,
            standardOutput: nil,
            standardError: nil,
            terminateRunning: arguments.has("--terminate-existing")
        )
        let answer: ControlAnswer
        do {
            answer = try ControlClient(device).ask(.launch(request))
        } catch let error as SimulatorError where error == .notInstalled(bundle) {
            throw DevicectlError.notInstalled(bundle)
        } catch let error as SimulatorError {
            throw DevicectlError.launchFailed(.device(error))
        }
        guard case .launched(let process) = answer else { throw SimulatorError.wrongState("lookup", .shutdown) }
        let installed = try InstalledApplications(device.folder).application(bundle)
        let executable = installed.flatMap { try? ApplicationBundle(path: $0.bundlePath(device.folder)).executable }
        return [
            "launchOptions": [
                "activatedWhenStarted": true, "arguments": appArguments, "environmentVariables": environment,
                "startStopped": false, "terminateExistingInstances": arguments.has("--terminate-existing"),
            ],
            "process": [
                "executable": "file://\(Self.phonePath(executable ?? "", device))", "processIdentifier": Int(process),
            ],
        ]
    }

    func processes() throws -> [String: Any] {
        let running = try running().map { process, executable in
            ["executable": "file://\(executable)", "processIdentifier": Int(process)] as [String: Any]
        }
        return ["runningProcesses": running]
    }

    /// The device's supervisor, for which SpringBoard stands, and its apps.
    private func running() throws -> [(process: Int32, executable: String)] {
        guard let information = ControlClient(device).information() else {
            throw SimulatorError.wrongState("lookup", try device.state())
        }
        let apps = ProcessTable.children(of: information.supervisor).compactMap { process -> (Int32, String)? in
            // A process that has ended and is not reaped yet has no executable any more.
            guard
                let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe"),
                executable.hasPrefix(device.folder.bundles)
            else { return nil }
            return (process, Self.phonePath(executable, device))
        }
        return [(information.supervisor, Self.springBoard)] + apps
    }

    func terminate(_ arguments: DevicectlArguments) throws -> [String: Any] {
        let text = try arguments.required("--pid")
        guard let process = Int32(text) else {
            throw DevicectlArguments.UsageError(message: "The value '\(text)' is invalid for '--pid <pid>'")
        }
        let number = arguments.has("--kill") ? SIGKILL : SIGTERM
        guard try running().dropFirst().contains(where: { $0.process == process }) else {
            throw DevicectlError.signalFailed(number, process)
        }
        _ = try ControlClient(device).ask(.signal(process: process, number: number))
        return ["process": ["processIdentifier": Int(process)], "signal": ["rawValue": Int(number)]]
    }
}
