import BerthHosts
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@Suite("SSH channel", .timeLimit(.minutes(8)))
struct SSHChannelTests {
    @Test("Bytes come back in order, and the command's exit status and error output are seen")
    func echo() async throws {
        try await HostsFixture.with(forcedCommand: "cat; echo $SSH_ORIGINAL_COMMAND >&2; exit 7") { fixture in
            let channel = try await SSHChannel.open(try fixture.endpoint, on: fixture.loop)
            var iterator = channel.inbound.makeAsyncIterator()
            var sent: [UInt8] = []
            for round in 0..<200 {
                let message = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: round * 37)
                try await channel.send(message, lane: round.isMultiple(of: 2) ? .control : .bulk)
                sent += message
                #expect(await receive(message.count, from: &iterator) == message)
            }
            channel.finishSending()
            #expect(await iterator.next() == nil)
            let end = await channel.waitForEnd()
            #expect(end.cause == .endOfStream(.status(7)))
            #expect(String(decoding: end.errorOutput, as: UTF8.self) == "berth-agent attach\n")
            await #expect(throws: SSHError.closed(end)) { try await channel.send([1], lane: .control) }
        }
    }

    /// How the bytes get to sshd.
    enum Route: CaseIterable {
        case smallSendBuffer
        case ordinarySocket
        /// A socket pair with the smallest buffer that there is: nearly every packet is sent in several parts.
        case tightTunnel
        /// The same two with compression.
        case compressed
        case compressedTightTunnel

        var compresses: Bool { self == .compressed || self == .compressedTightTunnel }
        var isTight: Bool { self == .tightTunnel || self == .compressedTightTunnel }
    }

    @Test("100 MiB both ways at once arrive intact while keys are exchanged every MiB", arguments: Route.allCases)
    func fullDuplex(route: Route) async throws {
        let configuration = ["RekeyLimit 1M", "ClientAliveInterval 1", "LogLevel DEBUG1"]
        try await HostsFixture.with(forcedCommand: "cat", extraConfiguration: configuration) { fixture in
            var endpoint = try fixture.endpoint
            // So short that the host is asked for signs of life between the packets.
            endpoint.keepaliveInterval = .milliseconds(1)
            if route == .smallSendBuffer { endpoint.sendBufferSize = 16 << 10 }
            endpoint.compresses = route.compresses
            let tunnel = route.isTight ? try TightTunnel(port: fixture.server.port) : nil
            let channel = try await SSHChannel.open(endpoint, on: fixture.loop, through: tunnel?.end)
            let total = 100 << 20
            let block = RandomBytes.make((1 << 20) + 13)
            async let sentDigest: [UInt8] = {
                var hasher = SHA256.Hasher()
                var left = total
                var offset = 0
                while left > 0 {
                    // Sizes that never line up with packets or windows.
                    let count = min(left, 1 + (offset &* 7919) % 200_000)
                    let start = (offset &* 31) % (block.count - count)
                    let message = Array(block[start..<start + count])
                    hasher.update(message)
                    try await channel.send(message, lane: .bulk)
                    left -= count
                    offset += count
                }
                channel.finishSending()
                return hasher.finish()
            }()
            var hasher = SHA256.Hasher()
            var received = 0
            for await bytes in channel.inbound {
                hasher.update(bytes)
                received += bytes.count
            }
            let exchanges = fixture.server.log.components(separatedBy: "SSH2_MSG_NEWKEYS sent").count - 1
            // Compressed, the random bytes that were sent before take less room.
            #expect(exchanges > (route.compresses ? 20 : 100))
            #expect(fixture.server.log.contains("compression: zlib@openssh.com") == route.compresses)
            #expect(await channel.waitForEnd().cause == .endOfStream(.status(0)))
            #expect(received == total)
            #expect(hasher.finish() == (try await sentDigest))
        }
    }
}
