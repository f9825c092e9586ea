import BerthCore
import Testing

/// What hosts say, as it goes over the wire.
@Suite struct HostMessageTests {
    private func report(saying words: String) -> AttemptReport {
        AttemptReport(
            run: "r-1",
            attempt: "a-1",
            epoch: 1,
            outcome: .failed,
            cause: OutcomeCause("verify-crashed", words),
            checks: [],
            steps: [.init(title: "prepare device", started: 0, duration: 3)],
            device: DeviceFacts(
                identity: "slot-1",
                platform: .linuxSimulated,
                model: "model",
                os: OSPin(version: "18.0", build: "22A1")
            ),
            agentVersion: "1",
            tools: ["simctl": "1"],
            startedAt: 0,
            endedAt: 1,
            evidence: Digest(bytes: [UInt8](repeating: 7, count: 32)),
            files: [],
            preservedDevice: nil
        )
    }

    private let sought = [HostMessage.resultType, HostMessage.closingType]

    @Test("a result goes out as it was encoded before, and is the same message")
    func encodedOnce() throws {
        let report = report(saying: #"it said "type":"closing" at its end"#)
        let frame = HostMessage.resultFrame(try CanonicalJSON.encode(report), route: "slot-1")
        let same = try HostMessage.result(report).frame(route: "slot-1")
        #expect(frame.type == .control && frame.route == "slot-1")
        #expect(try HostMessage.parse(frame.payload) == .result(report))
        for payload in [frame.payload, same.payload] {
            #expect(HostMessage.type(of: payload, among: sought) == HostMessage.resultType)
        }
    }

    @Test("a message is told by its type, whatever words it has beside it")
    func types() throws {
        func type(_ message: HostMessage) throws -> String? {
            HostMessage.type(of: try message.frame().payload, among: sought)
        }
        let progress = { (title: String) in Progress(attempt: "a", epoch: 1, step: 1, steps: 2, title: title) }
        #expect(try type(.progress(progress("launch verify"))) == nil)
        #expect(try type(.progress(progress(#"closing the result, "type":"result""#))) == nil)
        #expect(try type(.closing(Closing(reason: "no result came"))) == HostMessage.closingType)
        #expect(HostMessage.type(of: Array(#"{"type":"result"#.utf8), among: sought) == nil)
        #expect(HostMessage.type(of: [], among: sought) == nil)
    }
}
