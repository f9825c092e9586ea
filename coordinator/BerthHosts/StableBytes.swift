import Foundation

/// Bytes at an address that never changes, as a repeated libssh2 call needs them; wiped before they are freed.
///
/// Unchecked: the memory is written only in the initialiser, afterwards it is read.
final class StableBytes: @unchecked Sendable {
    private let memory: UnsafeMutableBufferPointer<CChar>

    init(_ bytes: [UInt8]) {
        // One byte more, so that C code that looks for an end finds one.
        memory = .allocate(capacity: bytes.count + 1)
        memory.initialize(repeating: 0)
        for (index, byte) in bytes.enumerated() { memory[index] = CChar(bitPattern: byte) }
    }

    deinit {
        if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
        memory.deallocate()
    }

    /// The bytes; valid for as long as this object lives.
    var pointer: UnsafePointer<CChar>? { UnsafePointer(memory.baseAddress) }

    var count: Int { memory.count - 1 }
}
