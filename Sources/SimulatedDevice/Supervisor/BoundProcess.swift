import BerthSystem
import CBerthSystem
import Foundation

/// Starts programs that do not outlive the thread that started them.
enum BoundProcess {
    /// What to start.
    struct Specification {
        let executable: String
        let arguments: [String]
        let environment: [String: String]
        let workingDirectory: String
        /// Path, or nil for nowhere.
        let standardOutput: String?
        let standardError: String?
    }

    /// Starts a program in a process group of its own.
    ///
    /// - Parameter specification: what to start and with what.
    /// - Returns: the process ID.
    /// - Throws: `SystemError` that names the program or the stream's file.
    static func spawn(_ specification: Specification) throws -> Int32 {
        let input = try FileDescriptor(path: "/dev/null", flags: O_RDONLY)
        let output = try stream(specification.standardOutput)
        let errors =
            specification.standardError == specification.standardOutput
            ? output : try stream(specification.standardError)
        let environment = specification.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        var process: Int32 = -1
        let code = withArray([specification.executable] + specification.arguments) { arguments in
            withArray(environment) { environment in
                specification.executable.withCString { executable in
                    specification.workingDirectory.withCString { folder in
                        var request = berth_spawn_request(
                            executable: executable,
                            arguments: arguments,
                            environment: environment,
                            working_directory: folder,
                            standard_input: input.number,
                            standard_output: output.number,
                            standard_error: errors.number,
                            inherited: nil,
                            inherited_count: 0,
                            new_session: 0
                        )
                        return withExtendedLifetime((input, output, errors)) {
                            berth_spawn_bound(&request, &process)
                        }
                    }
                }
            }
        }
        guard code == 0 else { throw SystemError(operation: "start", path: specification.executable, code: code) }
        return process
    }

    private static func stream(_ path: String?) throws -> FileDescriptor {
        guard let path else { return try FileDescriptor(path: "/dev/null", flags: O_WRONLY) }
        // A pipe of simctl, reached through /proc, is neither made nor emptied.
        let flags = path.hasPrefix("/proc/") ? O_WRONLY : O_WRONLY | O_CREAT | O_TRUNC
        return try FileDescriptor(path: path, flags: flags, mode: 0o644)
    }

    /// The strings as a C array that ends with a null pointer, for the duration of the body.
    private static func withArray<Result>(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
