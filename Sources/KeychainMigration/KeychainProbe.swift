import Foundation
import Security

/// The part of a test build that seeds, verifies, takes the census, cleans up and writes the status file.
///
/// Call `run(arguments:)` before any other code of the app: the census has to see the keychain as it was found.
///
/// A build that ships must not react to the probe's launch arguments (B3). Compile the probe out of it with `#if`;
/// `isEnabled` is for builds that decide at run time, and without it `run` does nothing at all.
public struct KeychainProbe {
    private let configuration: KeychainProbeConfiguration
    private let isEnabled: Bool
    private let environment: ProbeEnvironment

    /// A probe for a build.
    public init(configuration: KeychainProbeConfiguration, isEnabled: Bool) {
        self.init(configuration: configuration, isEnabled: isEnabled, environment: .system(configuration.preferences))
    }

    init(configuration: KeychainProbeConfiguration, isEnabled: Bool, environment: ProbeEnvironment) {
        self.configuration = configuration
        self.isEnabled = isEnabled
        self.environment = environment
    }

    /// Does what the launch arguments ask for, and writes the status file.
    ///
    /// - Parameter arguments: the launch arguments without the executable's name.
    /// - Returns: nil when no argument is the probe's, or the probe is not enabled: the app goes on as always. Otherwise
    ///   the outcome; what failed in the keychain stands in the status file. What kept the status file from being
    ///   written has been said on standard error, and the app has to exit with `exitCode`.
    public func run(arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> ProbeOutcome? {
        guard isEnabled else { return nil }
        let request: ProbeRequest
        do throws(ProbeArgumentError) {
            guard let parsed = try ProbeRequest.parse(arguments) else { return nil }
            request = parsed
        } catch {
            environment.complain("berth probe: \(error.description)")
            guard let phase = error.phase else { return ProbeOutcome(exitCode: ProbeOutcome.noPhase) }
            return publish { folder in
                var status = try begin(phase, nonce: error.nonce ?? .random(), in: folder)
                fail(&status, error.description)
                return status
            }
        }
        return publish { folder in
            let kept = folder.nonce
            // A seed without a nonce starts an attempt of its own: leftovers of an earlier one must not meet it (X2).
            let nonce = request.nonce ?? (request.phase == .seed ? nil : kept) ?? .random()
            var status = try begin(request.phase, nonce: nonce, in: folder)
            status.epoch = request.epoch
            if request.phase == .cleanup, request.nonce == nil, kept == nil {
                fail(&status, "no nonce is given or kept, so there is nothing to clean up by name")
                return status
            }
            try folder.keep(nonce)
            var session = ProbeSession(
                configuration: configuration,
                environment: environment,
                request: request,
                nonce: nonce,
                status: status
            )
            try session.run(in: folder)
            return session.status
        }
    }

    private func begin(_ phase: ProbePhase, nonce: ProbeNonce, in folder: ProbeFolder) throws -> StatusFile {
        StatusFile(
            phase: phase.rawValue,
            launch: try folder.countLaunch(),
            nonce: nonce.digits,
            epochMarker: folder.epochMarker,
            processIdentifier: ProcessInfo.processInfo.processIdentifier,
            build: environment.build,
            schemaVersion: configuration.schemaVersion,
            interrupted: folder.interruption
        )
    }

    private func fail(_ status: inout StatusFile, _ reason: String) {
        status.result = .failed
        status.reason = reason
    }

    private func publish(_ make: (ProbeFolder) throws -> StatusFile) -> ProbeOutcome {
        do {
            let folder = ProbeFolder(documents: environment.documents)
            try folder.prepare()
            return ProbeOutcome(statusFile: try folder.publish(try make(folder)))
        } catch {
            environment.complain("berth probe: the status file cannot be written: \(error)")
            return ProbeOutcome(exitCode: ProbeOutcome.cannotWriteStatusFile)
        }
    }
}
