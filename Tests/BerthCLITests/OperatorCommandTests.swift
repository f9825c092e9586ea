import BerthCore
import Testing

@testable import berth

/// What operators type, what is sent for it, and what they read.
@Suite("Operators", .timeLimit(.minutes(2)))
struct OperatorCommandTests {
    private static let drained = ServiceState(
        scope: .slot("sim-1"),
        state: .drained,
        reason: "new cable",
        actor: "amira",
        since: 1_790_000_000_000
    )
    private static let reservation = Reservation(
        id: "v-3",
        slot: "sim-1",
        batch: "b-3",
        label: nil,
        until: 1_790_000_000_000,
        reason: "release",
        actor: "lee"
    )

    @Test("The reasons of a run are grouped by what a slot could do for it")
    func whyRun() {
        func slot(_ name: String, _ isMatch: Bool, _ reasons: String...) -> SlotReasons {
            SlotReasons(slot: name, host: "alpha", isMatch: isMatch, reasons: reasons)
        }
        let why = RunWhyView(
            run: "r-1",
            state: .queued,
            summary: "r-1 waits",
            ahead: 3,
            slots: [
                slot("a", true), slot("b", true, "drained\u{1B}[2J"), slot("c", true, "drained\u{1B}[2J"),
                slot("d", true, "busy", "limit"), slot("e", false, "platform x is needed"),
            ]
        )
        #expect(
            WhyText.text(why) == """
                r-1 waits
                3 runs go before it on slots that could take it.

                Could take it now (1 slot):
                  a on alpha

                Could take it, and kept from it now (3 slots):
                  b, c on alpha
                      drained\\u{1B}[2J
                  d on alpha
                      busy
                      limit

                Never (1 slot):
                  e on alpha
                      platform x is needed

                """
        )
        #expect(
            WhyText.text(RunWhyView(run: "r-1", state: .finished, summary: "done", ahead: nil, slots: [])) == "done\n"
        )
    }

    @Test("The reasons of a slot come before what waits, by what keeps it away")
    func whySlot() {
        let why = SlotWhyView(
            slot: "a",
            summary: "slot a takes no run",
            reasons: ["\(Self.drained)"],
            waiting: [WaitingReason(count: 5, reasons: ["it cannot reboot"]), WaitingReason(count: 1, reasons: [])]
        )
        #expect(
            WhyText.text(why) == """
                slot a takes no run
                  slot sim-1 is drained by amira: new cable

                1 run that could go here now
                5 runs not here:
                  it cannot reboot

                """
        )
    }

    @Test("Each command asks for its own thing and says what came of it")
    func commands() async throws {
        let peer = try HTTPPeer { request in
            switch request.path {
            case "/v1/slots/sim-1/drain", "/v1/farm/maintenance": try Sample.answer(Self.drained)
            case "/v1/hosts/alpha/resume":
                try Sample.answer(
                    ResumedView(
                        former: nil,
                        remaining: [.init(scope: .farm, state: .maintenance, reason: "move", actor: "lee", since: 1)]
                    )
                )
            case "/v1/reservations": try Sample.answer(Self.reservation, status: 201)
            case "/v1/reservations/v-3/end": try Sample.answer(Self.reservation)
            case "/v1/limits":
                try Sample.answer([
                    LimitView(UsedLimit(limit: RunLimit(subject: .label, name: "host:m", most: 2), open: 1))
                ])
            case "/v1/submitters/ci/cancel":
                try Sample.answer(SubmitterCancellation(submitter: "ci", runs: 5, ending: 2))
            case "/v1/batches", "/v1/replays": try Sample.answer(Sample.batch(Sample.run("r-1", .queued)), status: 201)
            default: try Sample.refusal(404, "unknown-slot")
            }
        }
        let environment = ["BERTH_COORDINATOR": peer.address]
        func say(_ words: String) async -> (status: ExitCode, text: String) {
            let cli = CLIFixture()
            let program = Program(environment: environment, console: cli.console)
            let status = await program.run(words.split(separator: " ").map(String.init))
            return (status, cli.output + cli.errorOutput)
        }
        #expect(await say("slot drain sim-1 --reason cable").text == "slot sim-1 is drained by amira: new cable\n")
        #expect(await say("farm maintenance --reason cable").status == .success)
        #expect(
            await say("host resume alpha").text
                == "It was in use: host alpha\nStill: the farm is in maintenance by lee: move\n"
        )
        #expect(
            await say("reserve sim-1 --batch b-3 --for 4h --reason release").text
                == "sim-1 is reserved for batch b-3 until 2026-09-21 14:13:20Z by lee: release (v-3)\n"
        )
        #expect(await say("reservation end v-3").text == "sim-1 is no longer reserved for batch b-3\n")
        #expect(await say("limit set label:host:m 2").text.contains("label:host:m  2     1"))
        #expect(await say("limit set submitter:ci none").status == .success)
        #expect(
            await say("cancel --submitter ci").text
                == "3 runs of ci are cancelled, 2 are being ended on their slots\n"
        )
        #expect(await say("submit --old a --new b --case update --deadline 90m").status == .success)
        #expect(await say("replay r-1 --deadline 2030-01-31T12:00:00Z").status == .success)
        #expect(await say("why sim-2").status == .badInput)
        let bodies = peer.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies[0] == #"{"reason":"cable"}"#)
        #expect(bodies[3] == #"{"batch":"b-3","reason":"release","slot":"sim-1","until":"4h"}"#)
        #expect(bodies[5] == #"{"most":2,"name":"host:m","subject":"label"}"#)
        #expect(bodies[6] == #"{"name":"ci","subject":"submitter"}"#)
        #expect(bodies[8].contains(#""deadline":"90m""#) && bodies[9].contains(#""deadline":"2030-01-31T12:00:00Z""#))
        #expect(peer.requests.last?.path == "/v1/slots/sim-2/why")
    }

    @Test(
        "What cannot be meant is refused before anything is sent",
        arguments: [
            ("slot drain sim-1", "--reason TEXT is missing"), ("slot drain --reason x", "SLOT is missing"),
            ("farm drain all --reason x", "an argument too many"), ("slot drian a", "did you mean `slot drain`?"),
            ("reserve a --for 4h --reason x", "give one of --batch BATCH and --label KEY:VALUE"),
            ("reserve a --batch b-1 --for later --reason x", "--for must be a time from now such as 90m"),
            ("reserve a --label colour:red --for 4h --reason x", "one of the keys host, slot"),
            ("limit set ci 3", "submitter:NAME or label:KEY:VALUE"), ("limit set submitter:ci few", "or none"),
            ("limit set submitter:ci 1.5", "a limit is a whole number from 0"),
            ("host trust a --fingerprint MD5:1", "is no fingerprint"),
            ("host trust a", "--fingerprint SHA256:… is missing"),
            ("host trust a --withdraw --fingerprint x", "not both"), ("host change a", "there is nothing to change"),
            ("host change a --agent-socket /s", "needs --agent-key"),
            ("host change a --compression --no-compression", "not both"), ("host remove", "HOST is missing"),
            ("audit --since later", "--since must be"), ("doctor", "HOST is missing"),
            ("cancel", "give either the ID"), ("cancel r-1 --submitter ci", "give either the ID"),
            ("submit --old a --new b --case c --deadline 0m", "--deadline must be a time from now"),
        ]
    )
    func refusals(words: String, complaint: String) async {
        let cli = CLIFixture()
        let program = Program(environment: ["BERTH_COORDINATOR": "http://127.0.0.1:1"], console: cli.console)
        #expect(await program.run(words.split(separator: " ").map(String.init)) == .usage)
        #expect(cli.errorOutput.contains(complaint), "\(cli.errorOutput)")
    }

    @Test("The list of hosts tells who took a slot out of use and who has reserved it")
    func list() {
        let slot = SlotView(name: "sim-1", host: "alpha", device: Sample.device, state: .idle, attempt: nil)
            .with(services: [Self.drained], reservations: [Self.reservation])
        let busy = SlotView(name: "sim-2", host: "alpha", device: Sample.device, state: .busy, attempt: "a-1")
            .with(
                services: [.init(scope: .host("alpha"), state: .maintenance, reason: "r", actor: "lee", since: 1)],
                reservations: []
            )
        let record = HostRecord(name: "alpha", hostName: "m", port: 22, user: "u", identityFile: "/k", hostKey: "k")
        let text = HostListCommand.text([
            HostView(
                host: record,
                fingerprint: "f",
                state: .connected,
                problem: nil,
                clockSkew: 0,
                slots: [slot, busy]
            )
        ])
        #expect(text.contains(" drained ") && text.contains(" busy,maintenance "), "\(text)")
        #expect(text.contains("slot sim-1 is drained by amira: new cable (since 2026-09-21"))
        #expect(text.contains("; reserved for batch b-3 until"))
        #expect(text.contains("host alpha is in maintenance by lee: r"))
    }

    @Test("A watch says which runs expired")
    func watch() {
        let batch = Sample.batch(Sample.run("r-1", .expired, .expired), Sample.run("r-2", .finished, .passed))
        #expect(BatchProgress.summary(batch) == "batch b-1, 2 of 2 runs finished: 1 passed, 1 expired")
        #expect(BatchProgress.changes(from: nil, to: batch)[0].hasSuffix("expired"))
    }
}
