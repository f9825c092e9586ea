import BerthCore
import Testing

@testable import BerthCoordinator

/// What facts about a host are taken to mean; hosts that cannot be had in a test tell them here.
struct HostJudgementTests {
    private func mac(_ facts: MacFacts, paths: [String] = ["/opt/berth"]) -> [String: DoctorCheck] {
        let checks = MacJudgement(facts: facts, user: "farm", paths: paths).checks
        return Dictionary(uniqueKeysWithValues: checks.map { ($0.name, $0) })
    }

    private func facts(
        hasGUISession: Bool? = true,
        autoLoginUser: String? = "farm",
        fileVaultIsOn: Bool? = false,
        sleepMinutes: Int? = 0,
        developerFolder: String? = "/Applications/Xcode.app/Contents/Developer",
        simctl: String? = "/Applications/Xcode.app/Contents/Developer/usr/bin/simctl",
        jobs: [MacFacts.Job] = [Self.job],
        runtimeImages: Int? = 2
    ) -> MacFacts {
        MacFacts(
            consoleUser: hasGUISession == true ? "farm" : "eve",
            hasGUISession: hasGUISession,
            autoLoginUser: autoLoginUser,
            fileVaultIsOn: fileVaultIsOn,
            sleepMinutes: sleepMinutes,
            developerFolder: developerFolder,
            simctl: simctl,
            jobs: jobs,
            runtimes: 2,
            runtimeImages: runtimeImages
        )
    }

    private static let job = MacFacts.Job(
        path: "/Users/farm/Library/LaunchAgents/berth.sim-1.plist",
        sessionType: "Aqua",
        processType: "Interactive",
        exitTimeOut: 90,
        makesSession: false
    )

    @Test("A Mac that is set up for simulators is fine, and each known trap is named")
    func traps() {
        let fine = mac(facts())
        #expect(fine.values.allSatisfy { $0.state == .ok } && fine.count == 6)
        func problem(_ checks: [String: DoctorCheck], _ name: String, _ found: String, _ advice: String) {
            let problems = checks.values.filter { $0.state == .problem }
            #expect(problems.map(\.name) == [name], "\(checks)")
            #expect(problems.first?.measured.contains(found) == true, "\(problems)")
            #expect(problems.first?.advice?.contains(advice) == true, "\(problems)")
        }
        problem(mac(facts(hasGUISession: false)), "mac-session", "eve is logged in", "log farm in at the screen")
        problem(mac(facts(autoLoginUser: nil)), "mac-restart", "auto-login is off", "automatic login of farm")
        problem(mac(facts(fileVaultIsOn: true)), "mac-restart", "FileVault is on", "fdesetup disable")
        problem(mac(facts(sleepMinutes: 10)), "mac-sleep", "sleeps after 10 minutes", "pmset -a sleep 0")
        problem(mac(facts(simctl: nil)), "mac-tools", "no simctl", "install Xcode")
        problem(
            mac(facts(developerFolder: "/Library/Developer/CommandLineTools")),
            "mac-tools",
            "command line tools alone",
            "xcode-select -s"
        )
        problem(mac(facts(jobs: [])), "mac-launchd", "no job of launchd", "LaunchAgent")
        let daemon = MacFacts.Job(
            path: "/Library/LaunchDaemons/berth.plist",
            sessionType: nil,
            processType: nil,
            exitTimeOut: nil,
            makesSession: false
        )
        problem(mac(facts(jobs: [daemon])), "mac-launchd", "is a daemon's", "bootstrap gui/UID")
        let hasty = MacFacts.Job(
            path: "/a.plist",
            sessionType: "Aqua",
            processType: "Interactive",
            exitTimeOut: nil,
            makesSession: true
        )
        problem(mac(facts(jobs: [Self.job, hasty])), "mac-launchd", "ExitTimeOut to 60", "bootstrap gui/UID")
        problem(
            mac(facts(), paths: ["/Users/farm/Documents/cache"]),
            "mac-privacy",
            "asks a person",
            "Application Support"
        )
        problem(mac(facts(runtimeImages: 5)), "mac-runtimes", "5 images", "AssetsV2")
        #expect(mac(facts(hasGUISession: nil, fileVaultIsOn: nil))["mac-session"]?.state == .unknown)
    }

    @Test("A clock counts as off only beyond what the question itself took, and a Mac needs more room")
    func thresholds() {
        func checks(skew: Int64, uncertainty: Int64, free: Int64, mac: MacFacts?) -> [String: DoctorCheck.State] {
            let facts = HostFacts(
                request: 1,
                system: "s",
                user: "farm",
                wallClock: 1_000_000 + skew,
                disks: [DiskFacts(purpose: "cache", path: "/opt/berth", free: free, total: 1 << 40)],
                agents: [AgentFacts(slot: "a", problem: nil, versions: nil)],
                socketsFolder: "/run/berth",
                socketsProblem: nil,
                sshd: SSHDFacts(source: "x", settings: ["maxsessions": "0"]),
                mac: mac
            )
            let judgement = HostFactsJudgement(facts: facts, middle: 1_000_000, uncertainty: uncertainty, slots: [])
            return Dictionary(uniqueKeysWithValues: judgement.checks.map { ($0.name, $0.state) })
        }
        let linux = checks(skew: -2500, uncertainty: 600, free: 5 << 30, mac: nil)
        #expect(linux == ["agents": .ok, "clock": .ok, "disk": .ok, "sshd-limits": .problem])
        let mac = checks(skew: -2500, uncertainty: 100, free: 5 << 30, mac: facts())
        #expect(mac["clock"] == .problem && mac["disk"] == .problem && mac["mac-session"] == .ok)
    }
}
