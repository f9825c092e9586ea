import BerthSystem
import CBerthSystem
import Dispatch
import Foundation

/// The process of a booted device: parent of its apps, keychain service, keeper of boot ID and lock state.
package final class Supervisor: Sendable {
    /// The environment variable that names a folder: the device shuts down when it is gone.
    package static let endWithVariable = "BERTH_SIM_END_WITH"

    private let folder: DeviceFolder
    private let bootID = UUID().uuidString
    private let lock: FileLock
    private let applications = RunningApplications()
    private let launchThread = LaunchThread()
    private let faults = KeychainFaults()
    private let keychain: KeychainListener
    private let control: UnixListener
    private let installer: ApplicationInstaller
    private let launcher: ApplicationLauncher
    private let log = Log(component: "supervisor")

    /// Takes the device over: its lock, its keychain and its sockets.
    ///
    /// - Throws: `SimulatorError`, `SystemError`, `KeychainDatabaseError`
    private init(folder: DeviceFolder, environment: [String: String]) throws {
        self.folder = folder
        lock = try Self.takeLock(folder)
        // While another process is parent of an app, the app would not be found when the device shuts down.
        let code = berth_adopt_orphans()
        guard code == 0 else { throw SystemError(operation: "adopt the apps' orphans", code: code) }
        ProcessTable.endLeftovers(of: folder)
        let record = try DeviceRecord(path: folder.record)
        let runtime = try RuntimeFolder(environment: environment).runtime(record.runtime)
        try runtime.checkKeychain()
        try InstalledApplications(folder).removeUnnamedContainers()
        keychain = try KeychainListener(folder: folder, applications: applications, faults: faults)
        control = try UnixListener(path: folder.controlSocket)
        launcher = ApplicationLauncher(
            folder: folder,
            record: record,
            runtime: runtime,
            applications: applications,
            thread: launchThread
        )
        installer = ApplicationInstaller(folder: folder, applications: applications)
    }

    /// A supervisor that is ending may hold the lock for a moment longer.
    private static func takeLock(_ folder: DeviceFolder) throws -> FileLock {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            do {
                return try FileLock.acquire(path: folder.supervisorLock, holder: "supervisor \(getpid())")
            } catch let error as FileLockError {
                guard ContinuousClock.now < end else { throw error }
                usleep(10_000)
            }
        }
    }

    /// Is the device until it is shut down; then ends the process. Call it on the main thread.
    ///
    /// - Parameters:
    ///   - folder: the device.
    ///   - environment: this process's own.
    ///   - ready: called once, when the device is booted or cannot be, with the reason.
    package static func run(
        folder: DeviceFolder,
        environment: [String: String],
        ready: (SimulatorError?) -> Void
    ) -> Never {
        Signals.ignoreBrokenPipes()
        do {
            let supervisor = try Supervisor(folder: folder, environment: environment)
            let signals = supervisor.watchSignals()
            try supervisor.writeState(.booted)
            supervisor.start(environment: environment)
            supervisor.log.notice("Booted", ["device": folder.path, "boot": supervisor.bootID])
            ready(nil)
            supervisor.launchThread.run()
            supervisor.end()
            // Without the exit handlers, under which the other threads would still run.
            withExtendedLifetime(signals) { _exit(0) }
        } catch {
            Log(component: "supervisor").error("The device cannot boot", ["error": "\(error)"])
            ready(error as? SimulatorError ?? .hostFailure("The device cannot boot: \(error)"))
            _exit(1)
        }
    }

    private func start(environment: [String: String]) {
        Threads.detach(name: "reaper") { [applications] in applications.reap() }
        Threads.detach(name: "keychain-accept") { [keychain] in keychain.run() }
        Threads.detach(name: "control-accept") { [self] in
            ConnectionThreads.serve(control, name: "control") { self.serve($0) }
        }
        guard let companion = environment[Self.endWithVariable], !companion.isEmpty else { return }
        Threads.detach(name: "end-with") { [launchThread, log] in
            while access(companion, F_OK) == 0 { sleep(1) }
            log.notice("The folder that the device ends with is gone", ["path": companion])
            launchThread.stop()
        }
    }

    private func watchSignals() -> [any DispatchSourceSignal] {
        [SIGTERM, SIGINT].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [launchThread] in launchThread.stop() }
            source.resume()
            return source
        }
    }

    private func end() {
        log.notice("Shutting down", ["boot": bootID])
        installer.stop()
        applications.endAll()
        keychain.shutdown()
        control.shutdown()
        do {
            try writeState(.shutdown)
        } catch {
            // A deleted folder is the usual reason, and then nobody will ask for the state.
            log.error("The device's state could not be written", ["error": "\(error)"])
        }
    }

    private func writeState(_ state: DeviceState) throws {
        var record = try DeviceRecord(path: folder.record)
        record.state = state
        if state == .booted { record.lastBootedAt = Date() }
        try record.write(to: folder.record)
    }

    // MARK: Requests

    private func serve(_ connection: SocketConnection) {
        guard connection.peerUser == geteuid() else { return }
        do {
            while let message = try connection.readMessage(limit: ControlClient.longest) {
                let request = try JSONDecoder().decode(ControlRequest.self, from: Data(message))
                if case .shutdown = request {
                    launchThread.stop()
                    // The caller waits for the end of the stream, which the end of this process brings.
                    _ = try connection.read(upTo: 1)
                    return
                }
                try connection.writeMessage(Array(JSONEncoder().encode(answer(request))))
            }
        } catch {
            log.error("A request was dropped", ["error": "\(error)"])
        }
    }

    private func answer(_ request: ControlRequest) -> ControlAnswer {
        do {
            return try perform(request)
        } catch let error as SimulatorError {
            return .refused(error)
        } catch {
            log.error("A request failed", ["error": "\(error)"])
            return .refused(.hostFailure("\(error)"))
        }
    }

    private func perform(_ request: ControlRequest) throws -> ControlAnswer {
        switch request {
        case .information:
            return .information(BootInformation(bootID: bootID, lockState: .unlocked, supervisor: getpid()))
        case .launch(let request):
            return .launched(process: try installer.exclusively { try launcher.launch(request) })
        case .terminate(let bundle):
            guard let application = applications.application(bundle) else {
                throw SimulatorError.nothingToTerminate(bundle)
            }
            applications.end(application)
            return .done
        case .install(let container, let bundleName, let bundle):
            try installer.install(container: container, bundleName: bundleName, bundle: bundle)
            return .done
        case .uninstall(let bundle):
            try installer.uninstall(bundle)
            return .done
        case .signal(let process, let number):
            if let application = applications.application(process: process) { kill(application.process, number) }
            return .done
        case .waitForEnd(let process):
            if let application = applications.application(process: process) {
                _ = application.waitForEnd(.distantFuture)
            }
            return .done
        case .fault(let fault):
            faults.arm(fault)
            return .done
        case .clearFaults:
            return .cleared(left: faults.clear())
        case .shutdown:
            launchThread.stop()
            return .done
        }
    }
}
