import BerthCore
import BerthHosts
import BerthSystem

/// Examines a host step by step, as far as the steps before let it: names what is wrong and what to do.
struct HostDoctor {
    private static let greetingLimit = Duration.seconds(8)
    /// What is looked at on every host, each depending on those before.
    private static let order = [
        "reach", "key-exchange", "host-key", "login-key", "login", "forced-command", "shell", "agent-bridge",
        "protocol",
        "agents", "clock", "disk", "sshd-limits",
    ]
    /// A shell that takes longer delays each reconnection, and is on its way to the greeting's limit.
    static let slowStart = Duration.seconds(3)

    let host: HostRecord
    /// What the farm knows of it; nil while it knows nothing.
    let view: HostView?
    let ssh: SSHEventLoopGroup
    var checks: [DoctorCheck] = []
    /// Why checks that are missing could not be made.
    var blindness = "not looked at, because of the problem before"

    private init(_ host: HostRecord, view: HostView?, ssh: SSHEventLoopGroup) {
        self.host = host
        self.view = view
        self.ssh = ssh
    }

    /// - Parameters:
    ///   - host: its record.
    ///   - view: what the farm knows of it now.
    ///   - ssh: by which it is reached.
    ///   - allowsProxyCommands: whether its proxy command may be run.
    /// - Returns: what was found.
    static func examine(
        _ host: HostRecord,
        view: HostView?,
        ssh: SSHEventLoopGroup,
        allowsProxyCommands: Bool
    ) async -> DoctorReport {
        var doctor = HostDoctor(host, view: view, ssh: ssh)
        await doctor.examine(allowsProxyCommands: allowsProxyCommands)
        let reason = doctor.blindness
        for name in order where !doctor.checks.contains(where: { $0.name == name }) {
            doctor.add(name, .unknown, reason)
        }
        return DoctorReport(host: host.name, at: Timestamp.now().milliseconds, checks: doctor.checks)
    }

    mutating func add(_ name: String, _ state: DoctorCheck.State, _ measured: String, advice: String? = nil) {
        checks.append(DoctorCheck(name, state, measured, advice: advice))
    }

    private mutating func examine(allowsProxyCommands: Bool) async {
        let endpoint: SSHEndpoint
        do throws(SSHError) {
            var known = try SSHEndpoint(host, allowsProxyCommands: allowsProxyCommands)
            known.connectTimeout = .seconds(12)
            endpoint = known
        } catch {
            add("record", .problem, "\(error)", advice: "enrol the host anew with a usable record")
            return
        }
        guard await reach(endpoint), await compareKey(endpoint) else { return }
        await attach(endpoint)
    }

    // MARK: - The way there

    private mutating func reach(_ endpoint: SSHEndpoint) async -> Bool {
        let place = "\(host.hostName) port \(host.port)"
        do throws(SSHError) {
            let greeting = try await ssh.greeting(of: endpoint, within: Self.greetingLimit)
            add("reach", .ok, "\(place) answers in \(Self.text(greeting.connectTime)): \(greeting.banner)")
            if host.compression == true, !greeting.compresses {
                add(
                    "compression",
                    .problem,
                    "the host is enrolled with compression, and its sshd has none: the connection works without",
                    advice: "Compression yes in sshd_config, and reload sshd"
                )
            }
            return judge(greeting)
        } catch {
            let (measured, advice) = Self.explain(error, place)
            add("reach", .problem, measured, advice: advice)
            return false
        }
    }

    private static func explain(_ error: SSHError, _ place: String) -> (String, String) {
        switch error {
        case .nameNotResolved(let name, let reason):
            ("the name \(name) is not known: \(reason)", "correct the address in the host's record, or the resolver")
        case .unreachable(_, _, let reason) where reason.lowercased().contains("refused"):
            ("\(place) refuses connections", "start sshd on the host, or correct the port in the host's record")
        case .unreachable(_, _, let reason):
            ("\(place) cannot be reached: \(reason)", "check that the host runs, its network, and routes to it")
        case .timedOut(_, _, .connecting, let limit):
            (
                "\(place) did not answer within \(limit)",
                "check that the host runs and that no firewall drops packets between; a cloud Mac that was stopped "
                    + "needs up to hours to come back"
            )
        case .timedOut(_, _, _, let limit):
            (
                "\(place) takes connections and sends no SSH greeting within \(limit)",
                "check that sshd listens there and is not overloaded; UseDNS no in sshd_config spares a slow resolver"
            )
        case .disconnected(_, _, _, let reason):
            (
                "\(place) ended the connection before its greeting: \(reason)",
                "look at sshd's log on the host: MaxStartups, tcp wrappers and penalties for a source address end "
                    + "connections so"
            )
        case .proxyFailed(_, _, let reason, let words):
            (
                "the way to \(place) failed: \(reason); it wrote: \(words)",
                "try the proxy command, or ssh through the jump hosts, by hand as the coordinator's user"
            )
        default: ("\(error)", "see the message")
        }
    }

    private mutating func judge(_ greeting: SSHGreeting) -> Bool {
        let types = greeting.hostKeyTypes.joined(separator: ", ")
        let missing = greeting.missingMethods
        guard !missing.isEmpty else {
            add("key-exchange", .ok, "host key types: \(types)")
            return true
        }
        let isRSA = greeting.hostKeyTypes.contains { $0.hasPrefix("rsa-") || $0 == "ssh-rsa" }
        let measured =
            greeting.usableHostKeyTypes.isEmpty && isRSA
            ? "the host has RSA keys only (\(types)), which libssh2 1.10 verifies with SHA-1 only"
            : "no \(missing.joined(separator: ", no ")) in common; host key types: \(types)"
        let advice =
            greeting.usableHostKeyTypes.isEmpty
            ? "on the host: sudo ssh-keygen -A, a line `HostKey /etc/ssh/ssh_host_ed25519_key` in sshd_config, reload sshd; "
                + "then berth host trust \(host.name) --fingerprint SHA256:…"
            : "allow in sshd_config: \(SSHGreeting.neededConfiguration)"
        add("key-exchange", .problem, measured, advice: advice)
        return false
    }

    private mutating func compareKey(_ endpoint: SSHEndpoint) async -> Bool {
        let pinned = endpoint.pinnedHostKey
        do throws(SSHError) {
            let keys = try await ssh.showHostKeys(of: endpoint) { $0 == pinned }
            if keys.contains(pinned) {
                add("host-key", .ok, "shows the pinned key \(pinned)")
                return true
            }
            let shown = keys.first.map(\.fingerprint) ?? "SHA256:…"
            add(
                "host-key",
                .problem,
                "pinned \(pinned), shown \(keys.map(\.description).joined(separator: ", "))",
                advice:
                    "if the host was set up anew, compare with `ssh-keygen -lf` on its own console, then: berth host "
                    + "trust \(host.name) --fingerprint \(shown); if it was not, somebody answers in its place"
            )
        } catch {
            add("host-key", .problem, "\(error)", advice: "look at sshd's log on the host")
        }
        return false
    }

    static func text(_ duration: Duration) -> String { "\(duration.milliseconds) ms" }
}
