import Foundation

extension FileLock {
    /// Replaces this process by another program that inherits the lock: it ends with that program and all its children.
    /// Signals are as a program expects them.
    /// - Parameters:
    ///   - path: the program's absolute path; it gets no arguments.
    ///   - environment: all of its environment.
    /// - Returns: why it could not be; it does not return otherwise.
    package func becomeProgram(_ path: String, environment: [String: String]) -> SystemError {
        let flags = fcntl(descriptor, F_GETFD)
        guard flags >= 0, fcntl(descriptor, F_SETFD, flags & ~FD_CLOEXEC) == 0 else {
            return SystemError(operation: "hand on the lock", path: self.path)
        }
        // Threads of the runtime block signals, and a mask outlives the change of program.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        signal(SIGPIPE, SIG_DFL)
        return replaceProcess(path, arguments: [path], environment: environment)
    }
}

/// Replaces this process by another program, which keeps its terminal.
/// - Parameters:
///   - path: the program's absolute path.
///   - arguments: all arguments, its own name first.
///   - environment: all of its environment.
/// - Returns: why it could not be; it does not return otherwise.
package func replaceProcess(_ path: String, arguments: [String], environment: [String: String]) -> SystemError {
    var argumentPointers = arguments.map { strdup($0) } + [nil]
    var environmentPointers = environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
    execve(path, &argumentPointers, &environmentPointers)
    let error = SystemError(operation: "start", path: path)
    for pointer in argumentPointers + environmentPointers { free(pointer) }
    return error
}
