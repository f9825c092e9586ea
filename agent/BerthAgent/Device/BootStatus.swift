import Foundation

/// What `bootstatus` printed: the tool exits with 0 even when the boot failed, so its words count.
package enum BootStatus {
    /// The number in the last terminal block, such as 4294967295 (finished) or 3 (data migration failed).
    static func terminalStatus(in output: String) -> Int64? {
        var status: Int64?
        for line in output.split(separator: "\n") where line.contains("isTerminal=YES") {
            guard let start = line.range(of: "Status=") else { continue }
            status = Int64(line[start.upperBound...].prefix { $0.isNumber })
        }
        return status
    }

    /// Why the boot did not end well, or nil.
    package static func problem(in output: String) -> String? {
        if let status = terminalStatus(in: output), status != 4_294_967_295 {
            return status == 3 ? "the data migration failed (status 3)" : "the boot ended with status \(status)"
        }
        return output.contains("Data Migration Failed") ? "the data migration failed" : nil
    }
}
