import CBerthSystem
import Foundation
import Synchronization

/// A started process: parent of a process group that can be signalled as a whole. A thread waits for it, so it is
/// reaped at once and its end is never missed.
package final class ChildProcess: Sendable {
    private struct State {
        var termination: Termination?
        var waiters: [CheckedContinuation<Termination, Never>] = []
    }

    /// The process ID, also that of the process group.
    package let pid: Int32
    private let state = Mutex(State())

    private init(pid: Int32) {
        self.pid = pid
    }

    /// Starts a process.
    /// - Throws: `SystemError` that names the program or the stream's file.
    package static func spawn(_ specification: ProcessSpecification) throws -> ChildProcess {
        // A program that is not there needs no process to say so.
        guard !specification.executable.hasPrefix("/") || access(specification.executable, X_OK) == 0 else {
            throw SystemError(operation: "start", path: specification.executable)
        }
        let input = try Self.open(specification.standardInput, writing: false)
        let output = try Self.open(specification.standardOutput, writing: true)
        let errorOutput = try Self.open(specification.standardError, writing: true)
        var pid: Int32 = -1
        let arguments = [specification.argumentZero ?? specification.executable] + specification.arguments
        let environment = specification.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let code = withStringArrays(arguments, environment, specification) {
            arguments,
            environment,
            executable,
            folder in
            specification.inheritedDescriptors.withUnsafeBufferPointer { inherited in
                var request = berth_spawn_request(
                    executable: executable,
                    arguments: arguments,
                    environment: environment,
                    working_directory: folder,
                    standard_input: input.number,
                    standard_output: output.number,
                    standard_error: errorOutput.number,
                    inherited: inherited.baseAddress,
                    inherited_count: Int32(inherited.count),
                    new_session: specification.newSession ? 1 : 0
                )
                return berth_spawn(&request, &pid)
            }
        }
        // The descriptors close only after the child has its copies.
        withExtendedLifetime((input, output, errorOutput)) {}
        guard code == 0 else { throw SystemError(operation: "start", path: specification.executable, code: code) }
        let process = ChildProcess(pid: pid)
        Threads.detach(name: "wait-\(pid)") { process.waitBlocking() }
        return process
    }

    /// How the process ended; suspends until it has. Children of it may live on.
    package func wait() async -> Termination {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Termination? in
                if state.termination == nil { state.waiters.append(continuation) }
                return state.termination
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// How it ended, or nil while it runs.
    package var termination: Termination? { state.withLock { $0.termination } }

    /// Sends a signal to the whole process group; a group that is gone is no error.
    package func signalGroup(_ signal: Int32) {
        kill(-pid, signal)
    }

    /// Asks the group to end, and kills it after `grace`.
    @discardableResult
    package func end(grace: Duration) async -> Termination {
        signalGroup(SIGTERM)
        let killer = Task {
            try? await Task.sleep(for: grace)
            if !Task.isCancelled { self.signalGroup(SIGKILL) }
        }
        let termination = await wait()
        killer.cancel()
        signalGroup(SIGKILL)
        return termination
    }

    private func waitBlocking() {
        var exited: Int32 = 0
        var value: Int32 = 0
        let code = berth_wait(pid, &exited, &value)
        // ECHILD: somebody else reaped it. Its status is unknown, which is reported as a kill.
        let termination: Termination =
            code != 0 ? .signalled(SIGKILL) : exited == 1 ? .exited(value) : .signalled(value)
        let waiters = state.withLock { state in
            state.termination = termination
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: termination) }
    }

    /// A descriptor for a stream; `.descriptor` is duplicated so that ownership stays clear.
    private static func open(_ stream: ProcessSpecification.Stream, writing: Bool) throws -> FileDescriptor {
        switch stream {
        case .null:
            return try FileDescriptor(path: "/dev/null", flags: writing ? O_WRONLY : O_RDONLY)
        case .descriptor(let number):
            let copy = try retryingInterrupts("duplicate descriptor \(number)") { fcntl(number, F_DUPFD_CLOEXEC, 3) }
            return FileDescriptor(adopting: copy)
        case .file(let path):
            let flags = writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY
            return try FileDescriptor(path: path, flags: flags)
        case .appendingFile(let path):
            return try FileDescriptor(path: path, flags: writing ? O_WRONLY | O_CREAT | O_APPEND : O_RDONLY)
        }
    }
}

private typealias StringArray = UnsafePointer<UnsafeMutablePointer<CChar>?>

private func withStringArrays<Result>(
    _ arguments: [String],
    _ environment: [String],
    _ specification: ProcessSpecification,
    _ body: (StringArray, StringArray, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Result
) -> Result {
    let argumentPointers = arguments.map { strdup($0) } + [nil]
    let environmentPointers = environment.map { strdup($0) } + [nil]
    defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
    return argumentPointers.withUnsafeBufferPointer { arguments in
        environmentPointers.withUnsafeBufferPointer { environment in
            specification.executable.withCString { executable in
                guard let argumentBase = arguments.baseAddress, let environmentBase = environment.baseAddress else {
                    preconditionFailure("both arrays end with nil, so neither is empty")
                }
                guard let folder = specification.workingDirectory else {
                    return body(argumentBase, environmentBase, executable, nil)
                }
                return folder.withCString { body(argumentBase, environmentBase, executable, $0) }
            }
        }
    }
}
