import BerthCore
import BerthHosts

/// The login, and what it starts on the host.
extension HostDoctor {
    mutating func attach(_ endpoint: SSHEndpoint) async {
        let who = endpoint.agent.map { "the agent's key \($0.fingerprint)" } ?? endpoint.identityFile
        do throws(SSHError) {
            let outcome = try await AttachProbe(endpoint, on: ssh).run()
            add("login-key", .ok, who)
            add("login", .ok, "\(host.user) is let in")
            judge(outcome)
        } catch {
            switch error {
            case .keyUnreadable, .keyEncrypted, .keyTypeUnsupported, .agentUnusable, .agentKeyMissing:
                add(
                    "login-key",
                    .problem,
                    "\(error)",
                    advice:
                        "on the coordinator's machine: ssh-keygen -t ed25519, its .pub line into authorized_keys on the "
                        + "host, and enrol the host with it"
                )
            case .authenticationRefused:
                add("login-key", .ok, who)
                add(
                    "login",
                    .problem,
                    "\(error)",
                    advice:
                        "put the key's .pub line with its forced command into authorized_keys of \(host.user); the file "
                        + "and its folders must be writable by \(host.user) only"
                )
            default:
                add("login-key", .unknown, who)
                add("login", .problem, "\(error)", advice: "look at sshd's log on the host")
            }
        }
    }

    private mutating func judge(_ outcome: AttachProbe.Outcome) {
        let line = "restrict,command=\"/usr/local/bin/berth-agent attach --sockets DIR --cache DIR\" ssh-ed25519 AAAA…"
        if outcome.ranOurCommand {
            add(
                "forced-command",
                .problem,
                "the key runs any command: authorized_keys of \(host.user) has no forced command for it",
                advice: "write it as: \(line)"
            )
        } else if outcome.hello == nil, outcome.isTooSlow {
            add("forced-command", .unknown, "nothing of a command came within \(AttachProbe.startLimit)")
        } else {
            add("forced-command", .ok, "the key runs one command only")
        }
        judgeShell(outcome)
        guard let hello = outcome.hello else {
            add(
                "agent-bridge",
                .problem,
                "berth-agent attach did not answer: \(outcome.end ?? "the stream ended")",
                advice: "check the path of berth-agent and its options in authorized_keys: \(line)"
            )
            return
        }
        add("agent-bridge", .ok, "berth-agent \(hello.agentVersion) on \(hello.hostName)")
        judgeVersions(hello)
        if let facts = outcome.facts {
            checks +=
                HostFactsJudgement(
                    facts: facts,
                    middle: outcome.asked + (outcome.answered - outcome.asked) / 2,
                    uncertainty: (outcome.answered - outcome.asked) / 2,
                    slots: view?.slots ?? []
                ).checks
        } else {
            blindness = outcome.end ?? "this berth-agent does not tell facts about its host; update it"
        }
        judgeFarm()
    }

    private mutating func judgeShell(_ outcome: AttachProbe.Outcome) {
        let files = "the start-up files of \(host.user)'s shell (~/.bashrc, ~/.zshenv, /etc/zshenv …)"
        guard outcome.startTime != nil || outcome.chatter.isEmpty == false else {
            add("shell", .unknown, "nothing came")
            return
        }
        let time = outcome.startTime.map { "first frame after \(Self.text($0))" } ?? "no frame came"
        if !outcome.chatter.isEmpty {
            let text = String(decoding: outcome.chatter.prefix(200), as: UTF8.self)
            add(
                "shell",
                .problem,
                "\(outcome.chatter.count) bytes came before the first frame: \(text.debugDescription); \(time)",
                advice: "let \(files) print nothing where no person is at a terminal (`case $- in *i*) …`); more than "
                    + "\(Frame.chatterLimit) bytes cut the host off"
            )
        } else if let start = outcome.startTime, start > Self.slowStart {
            add(
                "shell",
                .problem,
                time,
                advice: "look for what is slow in \(files); `time ssh -T HOST true` shows it"
            )
        } else {
            add("shell", .ok, "no output before the first frame, \(time)")
        }
    }

    private mutating func judgeVersions(_ hello: HostHello) {
        let own = ProtocolVersions.own
        let words =
            "the host speaks \(hello.versions.lowest) to \(hello.versions.highest), "
            + "the coordinator \(own.lowest) to \(own.highest)"
        if own.common(with: hello.versions) != nil {
            add("protocol", .ok, words)
        } else {
            add("protocol", .problem, words, advice: "install the coordinator's release of berth-agent there")
        }
    }

    /// What the farm's own connection is at, beside the examination's.
    private mutating func judgeFarm() {
        guard let view else { return }
        switch view.state {
        case .connected: add("connection", .ok, "the farm is connected to the host")
        case .connecting: add("connection", .unknown, "the farm is connecting to the host")
        case .failing:
            add(
                "connection",
                .problem,
                view.problem ?? "the farm's own connection fails",
                advice: "it is tried again at intervals; examine the host again if it stays so"
            )
        }
    }
}
