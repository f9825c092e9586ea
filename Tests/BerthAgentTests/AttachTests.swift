import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// `attach` on its own, with agents that the tests play.
@Suite(.timeLimit(.minutes(5))) struct AttachTests {
    /// An agent of the test's own: a socket in the folder.
    private final class PlayedAgent: Sendable {
        let listener: UnixListener
        let connection: SocketConnection

        init(_ listener: UnixListener, _ connection: SocketConnection) {
            self.listener = listener
            self.connection = connection
        }

        func say(_ message: HostMessage, as route: String) throws {
            try connection.write(try message.frame(route: route).bytes)
        }
    }

    /// Waits until `attach` connects to a socket of this name.
    private func play(_ slot: String, _ listener: UnixListener) async throws -> PlayedAgent {
        PlayedAgent(listener, try await Threads.run(name: slot) { try listener.accept() })
    }

    private func heartbeat(_ number: UInt64) -> HostMessage { .heartbeat(Heartbeat(sequence: number, running: nil)) }

    @Test("an agent that takes nothing loses its own socket only; the others and the host go on")
    func stuckAgent() async throws {
        try await AgentHost.run { host in
            let stuckListener = try UnixListener(path: host.sockets + "/stuck.sock")
            let liveListener = try UnixListener(path: host.sockets + "/live.sock")
            let coordinator = try await host.attach(renews: false)
            let stuck = try await play("stuck", stuckListener)
            let live = try await play("live", liveListener)
            try stuck.say(heartbeat(1), as: "stuck")
            let reason = String(repeating: "x", count: 1 << 20)
            try await Threads.run(name: "flood") {
                for _ in 0..<16 {
                    try coordinator.send(.cancel(Cancellation(attempt: "a", epoch: 1, reason: reason)), to: "stuck")
                }
            }
            let left = try await coordinator.wait("the stuck slot has left") { message -> SlotLeft? in
                if case .slotLeft(let left) = message { left } else { nil }
            }
            #expect(left.slot == "stuck")
            try live.say(heartbeat(7), as: "live")
            _ = try await coordinator.wait("a heartbeat of the live slot") { message -> Bool? in
                if case .heartbeat(let heartbeat) = message, heartbeat.sequence == 7 { true } else { nil }
            }
            try coordinator.send(.renewed(Renewal(sequence: 7)), to: "live")
            let frames = try await Threads.run(name: "read") { try Self.frames(2, from: live.connection) }
            #expect(try CoordinatorMessage.parse(frames[1].payload) == .renewed(Renewal(sequence: 7)))
        }
    }

    @Test("a frame counts for the slot whose socket it came from, whatever it claims")
    func claimedRoute() async throws {
        try await AgentHost.run { host in
            let listener = try UnixListener(path: host.sockets + "/honest.sock")
            let coordinator = try await host.attach(renews: false)
            let agent = try await play("honest", listener)
            try agent.say(heartbeat(3), as: "another")
            try await eventually("the heartbeat comes") {
                coordinator.routed.contains { route, message in
                    if case .heartbeat(let heartbeat) = message {
                        heartbeat.sequence == 3 && route == "honest"
                    } else {
                        false
                    }
                }
            }
        }
    }

    @Test("a result comes after its evidence, which comes whole")
    func order() async throws {
        try await AgentHost.run { host in
            let listener = try UnixListener(path: host.sockets + "/sim-1.sock")
            let coordinator = try await host.attach(renews: false)
            let agent = try await play("sim-1", listener)
            let blob = [UInt8](repeating: 7, count: 4 << 20)
            let digest = Digest.sha256(of: blob)
            let report = AttemptReport(
                run: "r-1",
                attempt: "a-1",
                epoch: 1,
                outcome: .passed,
                cause: nil,
                checks: [],
                steps: [],
                device: DeviceFacts(identity: "d", platform: .linuxSimulated, model: "m", os: TestAssignment.os),
                agentVersion: "1",
                tools: [:],
                startedAt: 0,
                endedAt: 0,
                evidence: digest,
                files: [],
                preservedDevice: nil
            )
            try await Threads.run(name: "send") { [self] in
                for offset in stride(from: 0, to: blob.count, by: Frame.chunkSize) {
                    let part = Array(blob[offset..<offset + Frame.chunkSize])
                    let chunk = Chunk(digest: digest, offset: UInt64(offset), bytes: part)
                    try agent.connection.write(Frame(type: .chunk, route: "sim-1", payload: chunk.payload).bytes)
                }
                try agent.say(.result(report), as: "sim-1")
                try agent.say(heartbeat(9), as: "sim-1")
            }
            _ = try await coordinator.report(of: "a-1")
            #expect(coordinator.evidence[digest] == blob)
        }
    }

    @Test("a transfer that was cut goes on where it stopped; a blob that is not what it says is refused")
    func transfers() async throws {
        try await AgentHost.run { host in
            let blob = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
            let digest = Digest.sha256(of: blob)
            func query(_ coordinator: CoordinatorEnd, _ digest: Digest, _ size: Int) async throws -> UInt64? {
                try coordinator.send(
                    .query(BlobQuery(request: 9, blobs: [BlobReference(digest: digest, size: Int64(size))]))
                )
                let answer = try await coordinator.wait("the answer") { message -> MissingBlobs? in
                    if case .missing(let missing) = message, missing.request == 9 { missing } else { nil }
                }
                return answer.missing.first?.have
            }
            func send(_ coordinator: CoordinatorEnd, _ digest: Digest, _ bytes: ArraySlice<UInt8>) throws {
                let chunk = Chunk(digest: digest, offset: UInt64(bytes.startIndex), bytes: Array(bytes))
                try coordinator.write(Frame(type: .chunk, route: "", payload: chunk.payload))
            }
            let first = try await host.attach()
            #expect(try await query(first, digest, blob.count) == 0)
            try send(first, digest, blob[0..<65536])
            let partial = host.cache + "/partial/\(digest.hex)"
            try await eventually("the first chunk is there") {
                (try? FileManager.default.attributesOfItem(atPath: partial)[.size] as? Int) == 65536
            }
            _ = await first.hangUp()

            let second = try await host.attach()
            #expect(try await query(second, digest, blob.count) == 65536)
            for start in stride(from: 65536, to: blob.count, by: 65536) {
                try send(second, digest, blob[start..<min(start + 65536, blob.count)])
            }
            _ = try await second.wait("the blob is stored") { message -> Bool? in
                if case .stored(let stored) = message { stored.digest == digest } else { nil }
            }
            #expect(try BlobDirectory(path: host.cache).read(digest, limit: 1 << 20) == blob)

            let third = try await host.attach()
            let wrong = Digest.sha256(of: [1, 2, 3])
            #expect(try await query(third, wrong, 3) == 0)
            try send(third, wrong, [9, 9, 9][...])
            let refused = try await third.wait("a refusal") { message -> RefusedBlob? in
                if case .refused(let refused) = message { refused } else { nil }
            }
            #expect(refused.digest == wrong && refused.reason.contains("damaged"))
            #expect(!(try BlobDirectory(path: host.cache).contains(wrong)))
        }
    }

    @Test("versions without overlap close the channel with a reason; the end of the input ends attach with 0")
    func endings() async throws {
        try await AgentHost.run { host in
            let strange = try CoordinatorEnd(host, renews: false)
            let hello =
                #"{"type":"hello","versions":{"lowest":7,"highest":9},"coordinator":"c","term":1,"#
                + #""leaseMilliseconds":1000,"heartbeatMilliseconds":100}"#
            try strange.write(Frame(type: .control, route: "", payload: Array(hello.utf8)))
            let reason = try await strange.wait("a reason") { message -> String? in
                if case .closing(let closing) = message { closing.reason } else { nil }
            }
            #expect(reason.contains("7–9"))
            #expect(await strange.process.wait() == .exited(76))

            let orderly = try await host.attach()
            _ = try await orderly.wait("the host's hello") { message -> Bool? in
                if case .hostHello(let hello) = message { !hello.hostName.isEmpty && hello.diskFree > 0 } else { nil }
            }
            orderly.endInput()
            #expect(await orderly.process.wait() == .exited(0))
        }
    }

    /// Reads frames from an agent's side of its socket.
    private static func frames(_ count: Int, from connection: SocketConnection) throws -> [Frame] {
        var decoder = FrameDecoder(expectsPreamble: false)
        var frames: [Frame] = []
        while frames.count < count {
            let bytes = try connection.read(upTo: 1 << 16)
            if bytes.isEmpty { throw TestFailure("the connection ended after \(frames.count) frames") }
            decoder.feed(bytes)
            while let frame = try decoder.next() { frames.append(frame) }
        }
        return frames
    }
}
