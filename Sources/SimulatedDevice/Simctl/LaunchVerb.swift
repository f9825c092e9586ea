import BerthSystem
import Dispatch
import Foundation

/// Starting apps.
struct LaunchVerb {
    let set: DeviceSet

    private static let childPrefix = "SIMCTL_CHILD_"

    /// The options before the device; everything after the bundle identifier is the app's.
    private struct Options {
        var console = false
        var terminateRunning = false
        var standardOutput: String?
        var standardError: String?
        var rest: [String]

        init(_ arguments: Arguments) throws {
            var left = arguments.all[...]
            while let option = left.first, option.hasPrefix("-") {
                left.removeFirst()
                switch option {
                case "--console", "--console-pty": console = true
                case "--terminate-running-process": terminateRunning = true
                default:
                    let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
                    guard parts.count == 2 else { throw arguments.usageError("Unrecognized option: \(option)") }
                    switch parts[0] {
                    case "--stdout": standardOutput = URL(fileURLWithPath: parts[1]).path
                    case "--stderr": standardError = URL(fileURLWithPath: parts[1]).path
                    default: throw arguments.usageError("Unrecognized option: \(option)")
                    }
                }
            }
            rest = Array(left)
            guard rest.count >= 2 else { throw arguments.usageError(nil) }
        }
    }

    func run(_ arguments: Arguments) throws {
        let options = try Options(arguments)
        let device = try set.bootedDevice(options.rest[0])
        guard options.console else {
            let process = try launch(device, options, output: options.standardOutput, errors: options.standardError)
            StandardStreams.writeOutput("\(options.rest[1]): \(process)\n")
            return
        }
        try runWithConsole(device, options)
    }

    private func launch(_ device: Device, _ options: Options, output: String?, errors: String?) throws -> Int32 {
        let environment = ProcessInfo.processInfo.environment
        let additions = environment.filter { $0.key.hasPrefix(Self.childPrefix) }.map { key, value in
            (String(key.dropFirst(Self.childPrefix.count)), value)
        }
        let answer = try ControlClient(device).ask(
            .launch(
                LaunchRequest(
                    bundle: options.rest[1],
                    arguments: Array(options.rest.dropFirst(2)),
                    environment: Dictionary(uniqueKeysWithValues: additions),
                    standardOutput: output,
                    standardError: errors,
                    terminateRunning: options.terminateRunning
                )
            )
        )
        guard case .launched(let process) = answer else {
            throw SimulatorError.wrongState("lookup", try device.state())
        }
        return process
    }

    /// Shows the app's output and waits for its end; signals that arrive are passed on to the app.
    private func runWithConsole(_ device: Device, _ options: Options) throws {
        let (process, streams) = try launchWithPipes(device, options)
        StandardStreams.writeOutput("\(options.rest[1]): \(process)\n")
        let client = ControlClient(device)
        let signals = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { _ = try? client.ask(.signal(process: process, number: number)) }
            source.resume()
            return source
        }
        let pumped = DispatchGroup()
        for (reader, target) in streams {
            pumped.enter()
            Threads.detach(name: "console") {
                while let bytes = try? reader.read(upTo: 1 << 16), !bytes.isEmpty {
                    let text = String(decoding: bytes, as: UTF8.self)
                    if target == 1 { StandardStreams.writeOutput(text) } else { StandardStreams.writeError(text) }
                }
                pumped.leave()
            }
        }
        withExtendedLifetime(signals) {
            _ = try? client.ask(.waitForEnd(process: process))
            pumped.wait()
        }
    }

    /// The app writes into pipes of this process, which the supervisor opens through /proc. This process's own writing
    /// ends close on return.
    private func launchWithPipes(
        _ device: Device,
        _ options: Options
    ) throws -> (process: Int32, streams: [(reader: FileDescriptor, target: Int32)]) {
        let output = try FileDescriptor.pipe()
        let errors = try FileDescriptor.pipe()
        let process = try withExtendedLifetime((output, errors)) {
            try launch(
                device,
                options,
                output: options.standardOutput ?? "/proc/\(getpid())/fd/\(output.write.number)",
                errors: options.standardError ?? "/proc/\(getpid())/fd/\(errors.write.number)"
            )
        }
        return (process, [(output.read, 1), (errors.read, 2)])
    }
}
