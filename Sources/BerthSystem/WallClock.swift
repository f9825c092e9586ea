import Foundation
import Synchronization

/// Where every part of the farm takes the time of day from.
package enum WallClock {
    /// For the fault harness alone: where a file of eight bytes is mapped, the milliseconds that the clock is off; 0:
    /// nowhere.
    private static let shift = Atomic<UInt>(0)

    /// Milliseconds since 1970-01-01 UTC.
    package static var milliseconds: Int64 {
        let now = Int64((Date().timeIntervalSince1970 * 1000).rounded())
        guard let shift = UnsafePointer<Int64>(bitPattern: shift.load(ordering: .relaxed)) else { return now }
        return now + shift.pointee
    }

    /// For the fault harness alone: lets the clock of this process jump whenever the number in a file changes.
    /// - Parameter path: a file of eight bytes, a signed number in the machine's byte order.
    /// - Throws: `SystemError`
    package static func follow(_ path: String) throws {
        let file = try FileDescriptor(path: path, flags: O_RDONLY)
        var status = stat()
        try retryingInterrupts("look at", path) { fstat(file.number, &status) }
        guard status.st_size == 8 else { throw SystemError(operation: "read the clock", path: path, code: EINVAL) }
        guard let memory = mmap(nil, 8, PROT_READ, MAP_SHARED, file.number, 0), memory != MAP_FAILED else {
            throw SystemError(operation: "map", path: path)
        }
        // Mapped for as long as the process lives.
        shift.store(UInt(bitPattern: memory), ordering: .relaxed)
    }
}
