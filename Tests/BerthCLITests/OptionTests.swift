import Testing

@testable import berth

@Suite("Options")
struct OptionTests {
    private let submit = SubmitCommand.description

    @Test("Values stand behind their option, attached or not, once or many times")
    func values() throws {
        let words = [
            "--new", "a", "b", "--old=legacy", "--case", "update", "--priority", "-5", "--case=restart", "--watch",
        ]
        let arguments = try ParsedArguments(words, for: submit)
        #expect(arguments.value("--old") == "legacy")
        #expect(arguments.values("--new") == ["a", "b"])
        #expect(arguments.values("--case") == ["update", "restart"])
        #expect(try arguments.integer("--priority", default: 0, in: -10...10) == -5)
        #expect(arguments.has("--watch") && !arguments.has("--json"))
        let dashed = try ParsedArguments(["--", "-odd.app"], for: BuildAddCommand.description)
        #expect(dashed.operands == ["-odd.app"])
    }

    @Test(
        "A wrong command line is refused in words that say what to write",
        arguments: [
            ("submit --olld x", "--olld is no option of `berth submit`; did you mean --old?"),
            ("submit --old x --new y", "--case NAME… is missing"),
            ("submit --old x --old y", "--old is given twice"),
            ("submit --old --new y", "--old needs a value: REF"),
            ("submit --new", "--new needs at least one value: REF"),
            ("submit --watch=yes", "--watch takes no value"),
            (
                "submit --old x --new y --case z --repeats 0",
                "--repeats must be a whole number from 1 to 1000, not \"0\""
            ),
            ("submit --old x --new y --case z --platform linux-simulatd", "did you mean linux-simulated?"),
            ("build show", "REF is missing"),
            ("build show a b", "there is an argument too many: \"b\""),
            ("build add a.app b.app --name x", "--name can name only one bundle"),
            ("build lsit", "there is no command `build lsit`; did you mean `build list`?"),
            ("build", "`build` needs one of add, list, show"),
            ("wacth b-1", "there is no command `wacth`; did you mean `watch`?"),
            ("ledger simulators", "LEDGER must be one of simulator, hardware"),
            ("host add x/y --address h --user u --identity k", "\"x/y\" cannot name a host"),
            ("host add x --address h:0 --user u --identity k", "\"h:0\" is no address"),
            ("host add x --address h --user u", "--identity or --agent-key is missing"),
            (
                "host add x --address h --user u --identity k --agent-key SHA256:x",
                "give --identity or --agent-key, not both"
            ),
            ("host add x --address h --user u --identity k --jump h=f", "\"h=f\" is no jump host"),
            ("host add x --address h --user u --identity k --proxy-command c", "is not asked for"),
            ("run list", "Give --coordinator URL or set BERTH_COORDINATOR"),
            ("run list --coordinator farm:80", "is no address of a coordinator"),
        ]
    )
    func refused(line: String, complaint: String) async {
        let cli = CLIFixture()
        let words = line.split(separator: " ").map(String.init)
        let program = Program(environment: [:], console: cli.console)
        #expect(await program.run(words) == .usage)
        #expect(cli.errorOutput.contains(complaint), "\(cli.errorOutput)")
        #expect(cli.output.isEmpty)
    }

    @Test("Every command explains each of its options, and the program each exit status")
    func help() async {
        for command in Program.commands {
            let cli = CLIFixture()
            let words = command.description.name.split(separator: " ").map(String.init) + ["--help"]
            #expect(await Program(environment: [:], console: cli.console).run(words) == .success)
            for option in command.description.allOptions {
                #expect(cli.output.contains("  \(option.usage) "), "\(command.description.name) \(option.name)")
            }
        }
        let cli = CLIFixture()
        #expect(await cli.run("--help") == .success)
        for status in ExitCode.allCases { #expect(cli.output.contains("  \(status.rawValue) ")) }
    }

    @Test("Addresses of hosts and their keys are read in the forms that ssh writes")
    func hosts() throws {
        #expect(HostAddCommand.split("mac.example")?.port == 22)
        #expect(HostAddCommand.split("mac.example:2222")?.port == 2222)
        #expect(try #require(HostAddCommand.split("[fe80::1]:2222")) == ("fe80::1", 2222))
        #expect(try #require(HostAddCommand.split("fe80::1")) == ("fe80::1", 22))
        #expect(HostAddCommand.split("mac.example:70000") == nil)
        let key = "ssh-ed25519 AAAAC3Nz"
        for line in [key, "\(key) root@mac", "# a comment\nmac.example,10.0.0.1 \(key)\n", "  \(key)  "] {
            #expect(try HostAddCommand.key(line, from: "file") == key)
        }
        #expect(throws: CommandFailure.self) {
            try HostAddCommand.key("-----BEGIN OPENSSH PRIVATE KEY-----", from: "f")
        }
    }
}
