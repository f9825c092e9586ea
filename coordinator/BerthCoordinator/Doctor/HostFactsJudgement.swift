import BerthCore

/// What facts about a host mean for the farm. Pure: facts in, checks out.
struct HostFactsJudgement {
    /// A clock that is further off makes evidence hard to read beside the coordinator's.
    static let clockTolerance: Int64 = 2000
    /// Below it an attempt may find no room: two builds, a device, its evidence.
    static let diskFloor: Int64 = 2 << 30
    /// Simulator runtimes and devices of a Mac take more.
    static let macDiskFloor: Int64 = 15 << 30
    /// Connections to one address that log in at once.
    static let startupsNeeded = 5

    let facts: HostFacts
    /// The coordinator's clock in the middle between question and answer, and half of the time between them.
    let middle: Int64
    let uncertainty: Int64
    /// The host's slots, as the coordinator knows them.
    let slots: [SlotView]

    var checks: [DoctorCheck] {
        let mac = facts.mac.map { MacJudgement(facts: $0, user: facts.user, paths: paths).checks }
        return [agents, clock, disk, sshd] + (mac ?? [])
    }

    private var paths: [String] { facts.disks.filter { $0.purpose != "temporary files" }.map(\.path) }

    // MARK: -

    private var agents: DoctorCheck {
        if let problem = facts.socketsProblem {
            return DoctorCheck(
                "agents",
                .problem,
                problem,
                advice: "give `attach` in authorized_keys the --sockets folder of the agents, and let "
                    + "\(facts.user) read it"
            )
        }
        var problems: [String] = []
        var advice: [String] = []
        for agent in facts.agents {
            if let problem = agent.problem {
                problems.append("\(agent.slot): \(problem)")
                advice.append("start `berth-agent serve --slot \(agent.slot) …` again, and look at its log")
            } else if let versions = agent.versions, ProtocolVersions.own.common(with: versions) == nil {
                let own = ProtocolVersions.own
                problems.append(
                    "\(agent.slot): speaks protocol versions \(versions.lowest) to \(versions.highest), "
                        + "the coordinator \(own.lowest) to \(own.highest)"
                )
                advice.append("install the coordinator's release of berth-agent and restart slot \(agent.slot)")
            }
        }
        let sockets = Set(facts.agents.map(\.slot))
        for slot in slots where !sockets.contains(slot.name) && (slot.services ?? []).isEmpty {
            problems.append("\(slot.name): no socket in \(facts.socketsFolder), so no agent runs")
            advice.append("start `berth-agent serve --slot \(slot.name) --sockets \(facts.socketsFolder) …`")
        }
        let unheard = slots.filter { slot in
            slot.state == .offline && facts.agents.contains { $0.slot == slot.name && $0.problem == nil }
        }
        for slot in unheard where problems.isEmpty {
            problems.append("\(slot.name): its agent answers on the host, and the coordinator has not heard of it")
            advice.append("look at the agent's log and at `berth host list`")
        }
        guard problems.isEmpty else {
            return DoctorCheck(
                "agents",
                .problem,
                problems.joined(separator: "; "),
                advice: advice.joined(separator: "; ")
            )
        }
        guard !facts.agents.isEmpty else {
            return DoctorCheck(
                "agents",
                .problem,
                "no agent's socket is in \(facts.socketsFolder)",
                advice: "start `berth-agent serve --slot NAME --sockets \(facts.socketsFolder) …` for each slot"
            )
        }
        return DoctorCheck("agents", .ok, "running: \(facts.agents.map(\.slot).joined(separator: ", "))")
    }

    private var clock: DoctorCheck {
        let skew = facts.wallClock.clampedDifference(from: middle)
        let words = "\(skew >= 0 ? "+" : "")\(skew) ms (± \(uncertainty) ms) beside the coordinator's clock"
        guard skew.magnitude > (Self.clockTolerance + uncertainty).magnitude else {
            return DoctorCheck("clock", .ok, words)
        }
        return DoctorCheck(
            "clock",
            .problem,
            words,
            advice: "let a time service set the host's clock (chrony, systemd-timesyncd; on a Mac "
                + "`sntp -sS time.apple.com`), or the coordinator's if that is the wrong one"
        )
    }

    private var disk: DoctorCheck {
        let floor = facts.mac == nil ? Self.diskFloor : Self.macDiskFloor
        let words = facts.disks.map {
            "\($0.purpose): \(Self.size($0.free)) of \(Self.size($0.total)) free at \($0.path)"
        }
        guard !facts.disks.isEmpty else { return DoctorCheck("disk", .unknown, "the host does not tell") }
        // Sockets and temporary files may lie on small file systems.
        let full = facts.disks.filter { $0.purpose == "cache" ? $0.free < floor : $0.free < $0.total / 50 }
        guard !full.isEmpty else { return DoctorCheck("disk", .ok, words.joined(separator: "; ")) }
        return DoctorCheck(
            "disk",
            .problem,
            words.joined(separator: "; "),
            advice: "make room at \(full.map(\.path).joined(separator: ", ")); the cache needs \(Self.size(floor)): "
                + "release kept devices (`berth device list`), delete old blobs of the cache"
        )
    }

    private var sshd: DoctorCheck {
        guard let sshd = facts.sshd else {
            return DoctorCheck("sshd-limits", .unknown, "the configuration of sshd cannot be read by \(facts.user)")
        }
        var problems: [String] = []
        var advice: [String] = []
        let startups = sshd.settings["maxstartups"]
        if let first = startups?.split(separator: ":").first.flatMap({ Int($0) }), first < Self.startupsNeeded {
            problems.append("MaxStartups \(startups ?? "")")
            advice.append("MaxStartups 10:30:100: below \(Self.startupsNeeded), logins are dropped at random")
        }
        let perSource = sshd.settings["persourcemaxstartups"]
        if let number = perSource.flatMap({ Int($0) }), number < Self.startupsNeeded {
            problems.append("PerSourceMaxStartups \(number)")
            advice.append("PerSourceMaxStartups \(Self.startupsNeeded) or more")
        }
        if let number = sshd.settings["maxsessions"].flatMap({ Int($0) }), number < 1 {
            problems.append("MaxSessions \(number)")
            advice.append("MaxSessions 10: at 0 no command can be run")
        }
        let names = ["maxstartups", "persourcemaxstartups", "maxsessions", "logingracetime", "compression"]
        let found = names.compactMap { name in sshd.settings[name].map { "\(name) \($0)" } }
        let words = "\(found.isEmpty ? "sshd's defaults" : found.joined(separator: ", ")) (\(sshd.source))"
        guard problems.isEmpty else {
            return DoctorCheck(
                "sshd-limits",
                .problem,
                "\(problems.joined(separator: ", ")); \(words)",
                advice: "set in sshd_config: \(advice.joined(separator: "; ")), and reload sshd"
            )
        }
        return DoctorCheck("sshd-limits", .ok, words)
    }

    static func size(_ bytes: Int64) -> String {
        bytes < 10_000_000_000 ? "\(bytes / 1_000_000) MB" : "\(bytes / 1_000_000_000) GB"
    }
}
