import CBerthSystem
import Foundation
import Synchronization

/// An owned file descriptor, closed when the last reference goes.
package final class FileDescriptor: Sendable {
    /// How much of a stream is read at once, in bytes: allocators give blocks of 64 KiB and more back to the system, and tidy
    /// up, each time that one is freed.
    package static let pieceSize = 32 << 10

    /// The descriptor's number; valid for as long as this object lives, or until `close()`.
    package let number: Int32
    private let isClosed = Atomic(false)

    /// Takes ownership of an open descriptor.
    package init(adopting number: Int32) {
        self.number = number
    }

    /// Opens a file with close-on-exec.
    /// - Throws: `SystemError`
    package convenience init(path: String, flags: Int32, mode: Int32 = 0o600) throws {
        let number = berth_open(path, flags, mode)
        guard number >= 0 else { throw SystemError(operation: "open", path: path, code: -number) }
        self.init(adopting: number)
    }

    deinit {
        close()
    }

    /// Closes the descriptor before this object goes. Nobody may be using it, nor use it afterwards.
    package func close() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = Foundation.close(number)
    }

    /// Both ends of a pipe, close-on-exec.
    /// - Throws: `SystemError`
    package static func pipe() throws -> (read: FileDescriptor, write: FileDescriptor) {
        var numbers: [Int32] = [-1, -1]
        let code = berth_pipe(&numbers)
        guard code == 0 else { throw SystemError(operation: "make a pipe", code: code) }
        return (FileDescriptor(adopting: numbers[0]), FileDescriptor(adopting: numbers[1]))
    }

    /// Reads up to `count` bytes; empty at the end of the file. Blocks.
    /// - Throws: `SystemError`
    package func read(upTo count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = try retryingInterrupts("read") { Foundation.read(number, buffer.baseAddress, count) }
        }
    }

    /// Reads up to `count` bytes at a place, without moving the position; empty past the end. Blocks.
    /// - Throws: `SystemError`
    package func read(upTo count: Int, at offset: UInt64) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = try retryingInterrupts("read") { pread(number, buffer.baseAddress, count, off_t(offset)) }
        }
    }

    /// Writes all bytes. Blocks.
    /// - Throws: `SystemError`
    package func write(_ bytes: some Collection<UInt8>) throws {
        try withContiguousBytes(of: bytes) { buffer in
            var written = 0
            while written < buffer.count {
                written += try retryingInterrupts("write") {
                    Foundation.write(number, buffer.baseAddress?.advanced(by: written), buffer.count - written)
                }
            }
        }
    }

    /// Waits until everything written has reached the disk.
    /// - Throws: `SystemError`
    package func synchronize() throws {
        try retryingInterrupts("fsync") { fsync(number) }
    }
}

/// Calls `body` with the bytes in one piece, copied only where they do not lie in one.
func withContiguousBytes<Bytes: Collection<UInt8>>(
    of bytes: Bytes,
    _ body: (UnsafeRawBufferPointer) throws -> Void
) rethrows {
    let isDone: Void? = try bytes.withContiguousStorageIfAvailable { try body(UnsafeRawBufferPointer($0)) }
    if isDone == nil { try ContiguousArray(bytes).withUnsafeBytes(body) }
}
