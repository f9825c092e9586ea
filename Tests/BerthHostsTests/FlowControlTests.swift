import BerthHosts
import BerthTestSupport
import Foundation
import Testing

@Suite("SSH lanes and back-pressure", .timeLimit(.minutes(5)))
struct FlowControlTests {
    @Test("A control message overtakes queued bulk, and splits no bulk message")
    func overtaking() async throws {
        let directory = try TemporaryDirectory()
        let go = directory.path + "/go"
        // Reads nothing until the file exists.
        let command = "while [ ! -e \(go) ]; do sleep 0.05; done; exec cat"
        try await HostsFixture.with(forcedCommand: command) { fixture in
            let messageSize = 48 << 10
            let messages = (32 << 20) / messageSize
            let total = messages * messageSize
            let limits = SSHChannelLimits(bulkQueueBytes: 64 << 20)
            let channel = try await SSHChannel.open(try fixture.endpoint, on: fixture.loop, limits: limits)
            for _ in 0..<messages {
                try await channel.send([UInt8](repeating: 0, count: messageSize), lane: .bulk)
            }
            try await eventually("bulk is on its way") { channel.queuedBytes < total - 1 << 20 }
            let marker = [UInt8](repeating: 0xff, count: 1000)
            try await channel.send(marker, lane: .control)
            try #require(FileManager.default.createFile(atPath: go, contents: nil))
            channel.finishSending()
            var received: [UInt8] = []
            for await bytes in channel.inbound { received += bytes }
            #expect(received.count == total + marker.count)
            let position = try #require(received.firstIndex(of: 0xff))
            #expect(Array(received[position..<position + marker.count]) == marker)
            // Ahead of it is what sshd's window (2 MiB), its command's pipe and one chunk hold, and not the queue.
            #expect(position > 1 << 20)
            #expect(position <= (2 << 20) + (64 << 10) + 2 * messageSize)
            #expect(position.isMultiple(of: messageSize))
        }
    }

    @Test("A consumer that does not read bounds memory, and does not hold up what is sent")
    func backPressure() async throws {
        let command = "head -c 67108864 /dev/zero & cat >/dev/null; wait; exit 3"
        try await HostsFixture.with(forcedCommand: command) { fixture in
            let limits = SSHChannelLimits(unreadBytes: 1 << 20)
            let channel = try await SSHChannel.open(try fixture.endpoint, on: fixture.loop, limits: limits)
            try await eventually("reading has paused") { channel.unreadBytes.now > (1 << 20) - (64 << 10) }
            // Four windows of the host, while nothing is read here.
            for _ in 0..<128 { try await channel.send([UInt8](repeating: 7, count: 64 << 10), lane: .bulk) }
            channel.finishSending()
            try await eventually("all is sent") { channel.queuedBytes == 0 }
            var received = 0
            for await bytes in channel.inbound { received += bytes.count }
            #expect(received == 64 << 20)
            #expect(channel.unreadBytes.highest <= 1 << 20)
            #expect(await channel.waitForEnd().cause == .endOfStream(.status(3)))
        }
    }

    @Test("A cancelled send that waits for room sends nothing, and those after it go on")
    func cancelledSend() async throws {
        let directory = try TemporaryDirectory()
        let go = directory.path + "/go"
        let command = "while [ ! -e \(go) ]; do sleep 0.05; done; exec cat"
        try await HostsFixture.with(forcedCommand: command) { fixture in
            let limits = SSHChannelLimits(bulkQueueBytes: 1 << 20)
            let channel = try await SSHChannel.open(try fixture.endpoint, on: fixture.loop, limits: limits)
            func message(_ value: UInt8) -> [UInt8] { [UInt8](repeating: value, count: 1 << 20) }
            // Two fill the host's window, one the queue.
            for value in 1...3 { try await channel.send(message(UInt8(value)), lane: .bulk) }
            try await channel.untilSendingStalls()
            let cancelled = Task { try await channel.send(message(4), lane: .bulk) }
            cancelled.cancel()
            await #expect(throws: SSHError.cancelled) { try await cancelled.value }
            let waiting = Task { try await channel.send(message(5), lane: .bulk) }
            try #require(FileManager.default.createFile(atPath: go, contents: nil))
            try await waiting.value
            channel.finishSending()
            var received: [UInt8] = []
            for await bytes in channel.inbound { received += bytes }
            #expect(received == [1, 2, 3, 5].flatMap(message))
        }
    }
}
