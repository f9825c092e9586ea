import BerthSystem
import CBerthSystem
import Dispatch
import Foundation
import Synchronization

/// A started app.
struct RunningApplication: Sendable {
    let bundleIdentifier: String
    /// Process ID, also that of the app's process group.
    let process: Int32
    let client: KeychainClient
    let dataContainer: String
    /// The status files before it started.
    let statusFiles: StatusFiles
    /// Left when the app has ended and is reaped.
    let ended: DispatchGroup

    /// Whether the app wrote a status file since it started.
    var hasWrittenStatus: Bool { StatusFiles(container: dataContainer).hasNews(since: statusFiles) }

    /// Waits for the end of the app. Blocks.
    ///
    /// - Returns: whether it came in time.
    func waitForEnd(_ time: DispatchTime) -> Bool { ended.wait(timeout: time) == .success }
}

/// The apps of a device that run, as their parent knows them. Children of an app belong to it.
final class RunningApplications: Sendable {
    private let running = Mutex<[Int32: RunningApplication]>([:])
    private let started = DispatchSemaphore(value: 0)

    /// How long an app may take to end after SIGTERM.
    private static let grace = DispatchTimeInterval.seconds(2)

    /// Starts an app. Call it on the launch thread.
    ///
    /// - Throws: `SystemError`
    func start(
        _ specification: BoundProcess.Specification,
        bundle: String,
        client: KeychainClient,
        dataContainer: String
    ) throws -> RunningApplication {
        let statusFiles = StatusFiles(container: dataContainer)
        // Under the lock: the app may call the keychain before the next line here runs, and must then be known.
        let application = try running.withLock { running in
            let process = try BoundProcess.spawn(specification)
            let application = RunningApplication(
                bundleIdentifier: bundle,
                process: process,
                client: client,
                dataContainer: dataContainer,
                statusFiles: statusFiles,
                ended: DispatchGroup()
            )
            application.ended.enter()
            running[process] = application
            return application
        }
        started.signal()
        return application
    }

    func application(_ bundle: String) -> RunningApplication? {
        running.withLock { $0.values.first { $0.bundleIdentifier == bundle } }
    }

    func application(process: Int32) -> RunningApplication? {
        running.withLock { $0[process] }
    }

    /// The app that a process is or descends from; nil for a stranger.
    func owner(of process: Int32) -> RunningApplication? {
        running.withLock { running in
            var next = process
            // Deeper chains are not followed: nobody needs them, and a loop of reused IDs must end.
            for _ in 0..<64 {
                if let found = running[next] { return found }
                guard let (parent, group) = ProcessTable.relations(of: next) else { return nil }
                if let found = running[group] { return found }
                guard parent > 1, parent != getpid() else { return nil }
                next = parent
            }
            return nil
        }
    }

    /// Ends an app with all of its process group, and waits until it has ended. Blocks.
    func end(_ application: RunningApplication) {
        kill(-application.process, SIGTERM)
        if application.waitForEnd(.now() + Self.grace) { return }
        kill(-application.process, SIGKILL)
        _ = application.waitForEnd(.distantFuture)
    }

    /// Ends all apps, and then whatever else descends from this process. Blocks.
    func endAll() {
        for application in running.withLock({ Array($0.values) }) { end(application) }
        let limit = ContinuousClock.now + .seconds(2)
        while ContinuousClock.now < limit {
            let children = ProcessTable.children(of: getpid())
            if children.isEmpty { return }
            for child in children { kill(child, SIGKILL) }
            usleep(5_000)
        }
    }

    /// Reaps ended apps and adopted orphans for as long as the process lives.
    func reap() {
        while true {
            var process: Int32 = -1
            let code = berth_next_ended_child(&process)
            guard code == 0 else {
                // There is no child: the next start says when to look again.
                started.wait()
                continue
            }
            let application = running.withLock { $0.removeValue(forKey: process) }
            // The zombie still holds its ID, so the group cannot be anybody else's.
            if application != nil { kill(-process, SIGKILL) }
            var exited: Int32 = 0
            var value: Int32 = 0
            _ = berth_wait(process, &exited, &value)
            guard let application else { continue }
            Log(component: "supervisor").info(
                "App ended",
                [
                    "bundle": application.bundleIdentifier, "pid": "\(process)",
                    exited == 1 ? "exit" : "signal": "\(value)",
                ]
            )
            application.ended.leave()
        }
    }
}
