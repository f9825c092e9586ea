import BerthHosts
import BerthSystem
import BerthTestSupport
import Foundation

/// Round trips of a message of a heartbeat's size through a real sshd, over one channel and over many.
enum SSHMeasurement {
    private static let size = 256
    private static let channels = 32

    @Sendable static func run(_ options: BenchOptions) async throws -> [BenchRow] {
        let rounds = options.length(3, quick: 1)
        let length: Duration = options.length(.seconds(4), quick: .seconds(2))
        try DurableFile.makeFolder("\(options.folder)/sshd")
        let server = try await TestSSHServer(
            directory: "\(options.folder)/sshd",
            forcedCommand: "cat",
            extraConfiguration: ["MaxStartups 100"]
        )
        try await server.start()
        let loops = SSHEventLoopGroup()
        var bare: [(Double, Samples)] = []
        var one: [(Double, Samples)] = []
        var many: [(Double, Samples)] = []
        do {
            try loops.start()
            let endpoint = SSHEndpoint(
                hostName: "127.0.0.1",
                port: server.port,
                user: server.user,
                identityFile: server.identityFile,
                pinnedHostKey: try HostKey(line: server.hostKeyLine)
            )
            for round in 1...rounds {
                options.say("round trips, round \(round) of \(rounds)")
                bare.append(try await BareSSH.measure(server, size: size, for: length))
                one.append(try await measure(1, endpoint, loops, for: length))
                many.append(try await measure(channels, endpoint, loops, for: length))
            }
        } catch {
            await loops.stop()
            await server.stop()
            throw error
        }
        await loops.stop()
        await server.stop()
        let median = StoreMeasurement.median
        let peer = BenchRow.Peer(name: "bare libssh2, blocking", value: median(bare.map(\.0)))
        let unit = "round trips/s"
        return [
            BenchRow("SSH round trips, 1 channel", unit: unit, ours: median(one.map(\.0)), peer: peer),
            BenchRow("SSH round trips, \(channels) channels", unit: unit, ours: median(many.map(\.0)), peer: peer),
            BenchRow(
                "SSH round trip p50, 1 channel",
                unit: "ms",
                ours: median(one.map(\.1.median)),
                peer: .init(name: peer.name, value: median(bare.map(\.1.median)))
            ),
            BenchRow(
                "SSH round trip p99, 1 channel",
                unit: "ms",
                ours: median(one.map(\.1.p99)),
                peer: .init(name: peer.name, value: median(bare.map(\.1.p99)))
            ),
        ]
    }

    private static func measure(
        _ count: Int,
        _ endpoint: SSHEndpoint,
        _ loops: SSHEventLoopGroup,
        for length: Duration
    ) async throws -> (Double, Samples) {
        var open: [SSHChannel] = []
        for _ in 0..<count { open.append(try await loops.open(endpoint)) }
        let start = ContinuousClock.now
        let samples = try await withThrowingTaskGroup(of: Samples.self) { group in
            for channel in open {
                group.addTask {
                    let message = [UInt8](repeating: 7, count: size)
                    var samples = Samples()
                    var iterator = channel.inbound.makeAsyncIterator()
                    while ContinuousClock.now - start < length {
                        let began = ContinuousClock.now
                        try await channel.send(message, lane: .control)
                        var received = 0
                        while received < size {
                            guard let bytes = await iterator.next() else { throw BenchFailure("a channel ended") }
                            received += bytes.count
                        }
                        samples.add(ContinuousClock.now - began)
                    }
                    return samples
                }
            }
            var all = Samples()
            for try await part in group { all.add(part) }
            return all
        }
        let seconds = (ContinuousClock.now - start).inSeconds
        for channel in open { await channel.close() }
        return (Double(samples.values.count) / seconds, samples)
    }
}
