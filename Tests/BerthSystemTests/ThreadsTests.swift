import BerthSystem
import BerthTestSupport
import Testing

/// Threads that wait for more work.
@Suite(.timeLimit(.minutes(1))) struct ThreadsTests {
    @Test("what a job held goes when it is done, and not when its thread ends or has other work")
    func release() async throws {
        // More than there are threads that wait, twice, so that new threads and waiting ones are among them.
        for _ in 0..<2 {
            let readers = try (0..<40).map { _ in
                let pipe = try FileDescriptor.pipe()
                let held = pipe.write
                Threads.detach(name: "holder") { withExtendedLifetime(held) {} }
                return pipe.read
            }
            for reader in readers {
                // Comes to its end when the other side is closed.
                let end = try await Threads.run(name: "reader") { try reader.read(upTo: 1) }
                #expect(end.isEmpty)
            }
        }
    }
}
