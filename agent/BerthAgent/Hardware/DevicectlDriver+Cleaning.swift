import BerthArchive
import BerthCore
import BerthSystem
import Foundation

extension DevicectlDriver {
    /// Why a phone is not clean, as far as its app says.
    private struct Uncleanliness: Error {
        let cause: OutcomeCause
        /// The app said nothing that could be read.
        var isSilence = false
    }

    private var remedy: String { "to release it: berth-agent release --state \(state)" }

    package func refusal() -> OutcomeCause? {
        guard let record = records.record else { return nil }
        switch record.stage {
        case .open, .due:
            return OutcomeCause("device-cleaning", "the phone is being cleaned after attempt \(record.attempt)")
        case .held:
            let until = record.until.map { Timestamp(milliseconds: $0).text } ?? "released"
            return OutcomeCause(
                "device-held",
                "the phone is kept after attempt \(record.attempt) failed, until \(until); \(remedy)"
            )
        case .quarantined:
            return OutcomeCause(
                "quarantined",
                "the phone is not proved clean after attempt \(record.attempt): "
                    + "\(record.cause.map(\.description) ?? "unknown"); \(remedy)"
            )
        }
    }

    package func isCleaningDue() -> Bool {
        guard let record = records.record else { return release.isThere }
        switch record.stage {
        case .open, .due: return true
        case .held, .quarantined:
            let hasPassed = record.until.map { $0 <= Timestamp.now().milliseconds } ?? false
            return hasPassed || release.isThere
        }
    }

    /// Brings the phone back to where no attempt has been, and proves it, or puts the slot into quarantine.
    package func clean() async throws {
        guard isCleaningDue() else { return }
        let order = release.take()
        guard let record = records.record else { return }
        try await clean(record, order: order)
    }

    /// The same, by an operator's order if there is one.
    func clean(_ record: HardwareRecord, order: ReleaseRequest.Order?) async throws {
        Self.log.notice("cleaning the phone", ["attempt": record.attempt, "stage": record.stage.rawValue])
        do {
            if record.hasLaunched { try await cleanExactly(record) }
            try await removeApps(record)
            records.remember(nil)
            Self.log.notice("the phone is clean", ["attempt": record.attempt])
        } catch let problem as Uncleanliness {
            quarantine(record, problem.cause, order: order, retry: nil)
        } catch let error as DeviceToolError {
            // The phone could not be asked, so it is asked again: this ends by itself when a person has helped.
            quarantine(record, error.cause, order: order, retry: Self.retryPause)
        }
    }

    private func quarantine(
        _ record: HardwareRecord,
        _ cause: OutcomeCause,
        order: ReleaseRequest.Order?,
        retry: Duration?
    ) {
        if let reason = order?.unclean {
            Self.log.notice(
                "the phone is released although it is not proved clean",
                ["attempt": record.attempt, "cause": "\(cause)", "reason": reason]
            )
            return records.remember(nil)
        }
        Self.log.error("the phone cannot be proved clean", ["attempt": record.attempt, "cause": "\(cause)"])
        records.move(to: .quarantined, cause: cause, order: order?.id, after: retry)
    }

    /// Has every build of the attempt delete exactly the attempt's items and list what is left, the new one first: each
    /// sees its own access groups, and what one says of itself is not enough. A newer build that crashes or hangs at that,
    /// as broken ones do, is passed over; the old one, whose item was seeded, must prove that nothing is left.
    private func cleanExactly(_ record: HardwareRecord) async throws {
        _ = try await checkReadiness()
        for (index, build) in record.builds.enumerated().reversed() {
            do {
                try await cleanExactly(record, with: build)
            } catch let problem as Uncleanliness where index > 0 && problem.isSilence {
                Self.log.notice("a build did not clean up", ["build": "\(build.id)", "cause": "\(problem.cause)"])
            } catch let error as ArchiveError {
                throw Uncleanliness(cause: OutcomeCause("cleanup-build-missing", "\(error)"))
            } catch let error as DeviceToolError where index > 0 && Self.refusals.contains(error.kind) {
                Self.log.notice("a build cannot clean up", ["build": "\(build.id)", "cause": "\(error)"])
            } catch let error as DeviceToolError where Self.refusals.contains(error.kind) {
                throw Uncleanliness(cause: error.cause)
            }
        }
    }

    private static let refusals: [DeviceToolError.Kind] = [.buildRefused, .launchDenied, .signingRefused]

    private func cleanExactly(_ record: HardwareRecord, with build: AssignedBuild) async throws {
        let place = "\(state)/cleaning"
        try Folders.remove(place)
        defer { try? Folders.remove(place) }
        tool.xcrun.expect("the bundle on disk", within: .seconds(600))
        let manifest = try BuildManifest.parse(try cache.read(build.id, limit: KnownBuilds.manifestLimit))
        let bundle = try BundleMaterializer.materialize(manifest, from: cache, to: place)
        let device = PreparedDevice(udid: tool.udid, bootID: try await bootID(), os: facts.os)
        // An older build is not installed over a newer one. The items stay.
        if build.id != record.builds.last?.id { try await remove(build.description.bundleIdentifier) }
        try await install(build, bundle: bundle, on: device)
        let launch = AppLaunch(
            bundle: build.description.bundleIdentifier,
            arguments: ["-BerthCleanUp", "-BerthNonce", record.nonce, "-BerthEpoch", "\(record.epoch)"],
            environment: [:],
            standardOutput: "/dev/null",
            standardError: "/dev/null"
        )
        let app = try await self.launch(launch, on: device)
        let status: StatusFile
        do {
            status = try await cleanupStatus(app, on: device)
        } catch {
            try await end(app, on: device)
            throw error
        }
        try await end(app, on: device)
        try judge(status, record)
    }

    /// Waits for the status file of a cleanup, whatever number its launch has.
    private func cleanupStatus(_ app: LaunchedApp, on device: PreparedDevice) async throws -> StatusFile {
        let deadline = ContinuousClock.now + wish.statusTimeout
        while true {
            let isRunning = try await isRunning(app, on: device)
            let names = try await statusFiles(of: app, reading: nil, on: device).names
            if let name = names.subtracting(app.earlierStatusFiles).first(where: { $0.hasSuffix("-cleanup.json") }) {
                let finding = try await statusFiles(of: app, reading: name, on: device).finding
                guard case .file(let bytes) = finding else {
                    throw Uncleanliness(
                        cause: .init("cleanup-status-malformed", "\(name) is no file that can be read"),
                        isSilence: true
                    )
                }
                do {
                    return try StatusFile.parse(bytes, name: name)
                } catch {
                    throw Uncleanliness(cause: .init("cleanup-status-malformed", "\(error)"), isSilence: true)
                }
            }
            guard isRunning else {
                throw Uncleanliness(
                    cause: .init("cleanup-crashed", "the app ended without a status file"),
                    isSilence: true
                )
            }
            guard ContinuousClock.now < deadline else {
                let seconds = wish.statusTimeout.components.seconds
                throw Uncleanliness(
                    cause: .init("cleanup-hung", "the app wrote no status file within \(seconds) s"),
                    isSilence: true
                )
            }
            try await Task.sleep(for: pollInterval)
        }
    }

    /// Nothing of this attempt or of another one may be left, and nothing else may be changed.
    private func judge(_ status: StatusFile, _ record: HardwareRecord) throws {
        func refuse(_ code: String, _ words: String) -> Uncleanliness { Uncleanliness(cause: .init(code, words)) }
        guard status.nonce == record.nonce, status.phase == .cleanup else {
            throw refuse("cleanup-status-foreign", "its status file belongs to another attempt or phase")
        }
        guard let before = status.census, let after = status.censusAfter else {
            throw refuse("cleanup-failed", status.reason ?? "the census is missing")
        }
        guard after.ownSuffix == 0 else {
            throw refuse("cleanup-incomplete", "\(after.ownSuffix) items of the attempt are left")
        }
        guard status.result == .succeeded else {
            throw refuse("cleanup-failed", status.reason ?? "it does not say why")
        }
        guard before.bystanders == after.bystanders, before.bystandersDigest == after.bystandersDigest else {
            throw refuse("cleanup-touched-bystanders", "items that are not the attempt's were changed")
        }
        guard after.otherSuffixes == 0 else {
            throw refuse(
                "not-clean",
                "\(after.otherSuffixes) items of attempts that this slot knows nothing of are there"
            )
        }
    }
}
