import Foundation
import Synchronization

/// What a finished command said.
package struct CommandResult: Sendable {
    package let termination: Termination
    /// Standard output up to the limit.
    package let output: [UInt8]
    /// Standard error up to the limit.
    package let errorOutput: [UInt8]
    /// The time limit passed and the process group was killed.
    package let timedOut: Bool
    /// Output went over the limit and the rest was dropped.
    package let truncated: Bool
    /// Both outputs came to their end; false when a process that the command left behind still held one open.
    package let outputEnded: Bool
    /// How long it ran.
    package let duration: Duration

    package var outputText: String { String(decoding: output, as: UTF8.self) }
    package var errorText: String { String(decoding: errorOutput, as: UTF8.self) }
}

/// Runs commands to their end with a time limit and bounded output.
package enum CommandRunner {
    /// Starts the command, feeds it `input`, collects both outputs, and kills its process group at the time limit or
    /// when the task is cancelled. The result comes when the command itself has ended: output that a surviving
    /// grandchild still holds open is read for a short grace only.
    /// - Parameters:
    ///   - specification: what to run; its standard streams are replaced by pipes.
    ///   - input: what the command reads; without any, its standard input stays as specified.
    ///   - timeout: when the process group is killed.
    ///   - outputLimit: bytes kept of each output; the rest is dropped.
    ///   - tell: told of the process before it is waited for; what it throws ends the process group.
    /// - Returns: how it ended and what it said.
    /// - Throws: `SystemError` if it cannot be started, `CancellationError`, what `started` throws.
    package static func run(
        _ specification: ProcessSpecification,
        input: [UInt8] = [],
        timeout: Duration,
        outputLimit: Int = 1 << 20,
        started tell: @Sendable (ChildProcess) throws -> Void = { _ in }
    ) async throws -> CommandResult {
        let started = ContinuousClock.now
        let running = try start(specification, feeding: !input.isEmpty)
        do {
            try tell(running.process)
        } catch {
            running.process.signalGroup(SIGKILL)
            throw error
        }
        return try await collect(
            running.process,
            reading: (running.output, running.errorOutput),
            feeding: running.feed.map { ($0, input) },
            until: started + timeout,
            outputLimit: outputLimit,
            started: started
        )
    }

    private struct Running {
        let process: ChildProcess
        let output: FileDescriptor
        let errorOutput: FileDescriptor
        let feed: FileDescriptor?
    }

    /// Starts the command with pipes. This process's copies of the child's ends are closed on return, so that the
    /// streams end with their last writer.
    private static func start(_ specification: ProcessSpecification, feeding: Bool) throws -> Running {
        let output = try FileDescriptor.pipe()
        let errorOutput = try FileDescriptor.pipe()
        let input = feeding ? try FileDescriptor.pipe() : nil
        var piped = specification
        piped.standardOutput = .descriptor(output.write.number)
        piped.standardError = .descriptor(errorOutput.write.number)
        if let input { piped.standardInput = .descriptor(input.read.number) }
        return try withExtendedLifetime((output.write, errorOutput.write, input?.read)) {
            Running(
                process: try ChildProcess.spawn(piped),
                output: output.read,
                errorOutput: errorOutput.read,
                feed: input?.write
            )
        }
    }

    private static func collect(
        _ process: ChildProcess,
        reading: (FileDescriptor, FileDescriptor),
        feeding: (FileDescriptor, [UInt8])?,
        until deadline: ContinuousClock.Instant,
        outputLimit: Int,
        started: ContinuousClock.Instant
    ) async throws -> CommandResult {
        let collectors = (OutputCollector(limit: outputLimit), OutputCollector(limit: outputLimit))
        let (first, second) = reading
        Threads.detach(name: "stdout-\(process.pid)") { collectors.0.drain(first) }
        Threads.detach(name: "stderr-\(process.pid)") { collectors.1.drain(second) }
        if let (pipe, bytes) = feeding {
            Threads.detach(name: "stdin-\(process.pid)") {
                // A command that closes its input early is judged by its exit status.
                try? pipe.write(bytes)
                pipe.close()
            }
        }
        let timedOut = Mutex(false)
        let watchdog = Task {
            try await Task.sleep(until: deadline)
            timedOut.withLock { $0 = true }
            process.signalGroup(SIGKILL)
        }
        let termination = await withTaskCancellationHandler {
            await process.wait()
        } onCancel: {
            process.signalGroup(SIGKILL)
        }
        watchdog.cancel()
        let duration = ContinuousClock.now - started
        let outputEnded = await collectors.0.waitForEnd(grace: .milliseconds(300))
        let errorEnded = await collectors.1.waitForEnd(grace: .milliseconds(300))
        try Task.checkCancellation()
        let (text, errorText) = (collectors.0.snapshot, collectors.1.snapshot)
        return CommandResult(
            termination: termination,
            output: text.bytes,
            errorOutput: errorText.bytes,
            timedOut: timedOut.withLock { $0 },
            truncated: text.truncated || errorText.truncated,
            outputEnded: outputEnded && errorEnded,
            duration: duration
        )
    }
}
