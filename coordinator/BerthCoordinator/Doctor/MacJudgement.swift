import BerthCore

/// What facts about a Mac mean for simulators and agents on it. Pure: facts in, checks out.
struct MacJudgement {
    let facts: MacFacts
    /// The agents' user.
    let user: String
    /// Folders that agents use.
    let paths: [String]

    var checks: [DoctorCheck] { [session, restart, sleep, tools, jobs, privacy, runtimes].compactMap(\.self) }

    /// simctl and agents need a login at the screen, of the same user.
    private var session: DoctorCheck {
        guard let hasSession = facts.hasGUISession else {
            return DoctorCheck("mac-session", .unknown, "launchctl does not tell whether \(user) is logged in")
        }
        guard !hasSession else { return DoctorCheck("mac-session", .ok, "\(user) is logged in at the screen") }
        return DoctorCheck(
            "mac-session",
            .problem,
            "\(facts.consoleUser ?? "nobody") is logged in at the screen, not \(user): simctl fails with \"could not "
                + "bind to session\", and launchd has no gui domain for the agents",
            advice: "log \(user) in at the screen (auto-login, or screen sharing once); agents belong into gui/UID as "
                + "LaunchAgents"
        )
    }

    private var restart: DoctorCheck {
        guard let vault = facts.fileVaultIsOn else {
            return DoctorCheck("mac-restart", .unknown, "fdesetup does not tell whether FileVault is on")
        }
        if vault {
            return DoctorCheck(
                "mac-restart",
                .problem,
                "FileVault is on: after a restart the disk waits for a person",
                advice: "turn FileVault off (fdesetup disable), or plan who unlocks it after each restart"
            )
        }
        guard facts.autoLoginUser == user else {
            return DoctorCheck(
                "mac-restart",
                .problem,
                "auto-login is \(facts.autoLoginUser.map { "of \($0)" } ?? "off"): no agent of \(user) runs after a restart",
                advice: "turn automatic login of \(user) on (System Settings, Users & Groups)"
            )
        }
        return DoctorCheck("mac-restart", .ok, "\(user) is logged in by itself, FileVault is off")
    }

    private var sleep: DoctorCheck {
        guard let minutes = facts.sleepMinutes else {
            return DoctorCheck("mac-sleep", .unknown, "pmset does not tell when the Mac sleeps")
        }
        guard minutes > 0 else { return DoctorCheck("mac-sleep", .ok, "the Mac does not sleep") }
        return DoctorCheck(
            "mac-sleep",
            .problem,
            "the Mac sleeps after \(minutes) minutes",
            advice: "sudo pmset -a sleep 0 disksleep 0"
        )
    }

    private var tools: DoctorCheck {
        let folder = facts.developerFolder
        guard let simctl = facts.simctl else {
            return DoctorCheck(
                "mac-tools",
                .problem,
                "xcrun finds no simctl; the developer folder is \(folder ?? "not set")",
                advice: "install Xcode and set DEVELOPER_DIR in the agents' launchd jobs, or sudo xcode-select -s"
            )
        }
        guard folder?.hasSuffix("/CommandLineTools") != true else {
            return DoctorCheck(
                "mac-tools",
                .problem,
                "the developer folder is \(folder ?? ""), the command line tools alone, which have no simulators",
                advice: "sudo xcode-select -s /Applications/Xcode.app, or DEVELOPER_DIR in the agents' launchd jobs"
            )
        }
        return DoctorCheck("mac-tools", .ok, simctl)
    }

    private var jobs: DoctorCheck {
        guard !facts.jobs.isEmpty else {
            return DoctorCheck(
                "mac-launchd",
                .problem,
                "no job of launchd runs berth-agent",
                advice: "one LaunchAgent for each slot in ~/Library/LaunchAgents (agent/README.md), so that it is "
                    + "started again after a crash and after a login"
            )
        }
        var problems: [String] = []
        for job in facts.jobs {
            if job.path.hasPrefix("/Library/LaunchDaemons/") {
                problems.append("\(job.path) is a daemon's, outside of the screen's session: make it a LaunchAgent")
                continue
            }
            if job.makesSession { problems.append("\(job.path): remove SessionCreate, it leaves the screen's session") }
            if job.sessionType != "Aqua" { problems.append("\(job.path): set LimitLoadToSessionType to Aqua") }
            if job.processType != "Interactive" {
                problems.append("\(job.path): set ProcessType to Interactive, else the system slows boots down")
            }
            if (job.exitTimeOut ?? 20) < 60 {
                problems.append("\(job.path): set ExitTimeOut to 60 or more: devices are put away before the kill")
            }
        }
        guard problems.isEmpty else {
            return DoctorCheck(
                "mac-launchd",
                .problem,
                problems.joined(separator: "; "),
                advice: "change the plists, then launchctl bootout and bootstrap gui/UID with each"
            )
        }
        return DoctorCheck("mac-launchd", .ok, facts.jobs.map(\.path).joined(separator: ", "))
    }

    /// Folders that the system keeps from programs without a person's consent.
    private var privacy: DoctorCheck? {
        let kept = paths.filter { path in
            ["/Documents", "/Desktop", "/Downloads"].contains { path.contains($0 + "/") || path.hasSuffix($0) }
                || path.hasPrefix("/Volumes/")
        }
        guard !kept.isEmpty else { return nil }
        return DoctorCheck(
            "mac-privacy",
            .problem,
            "\(kept.joined(separator: ", ")): the system asks a person before a program may read there",
            advice: "keep the agents' folders under ~/Library/Application Support or /opt"
        )
    }

    private var runtimes: DoctorCheck? {
        guard let runtimes = facts.runtimes, let images = facts.runtimeImages else { return nil }
        guard images > runtimes else {
            return DoctorCheck("mac-runtimes", .ok, "\(runtimes) simulator runtimes, \(images) images of them")
        }
        return DoctorCheck(
            "mac-runtimes",
            .problem,
            "\(images) images of simulator runtimes for \(runtimes) runtimes: deleted ones still take about 8 GB each",
            advice: "as root, delete what no runtime uses under "
                + "/System/Library/AssetsV2/com_apple_MobileAsset_iOSSimulatorRuntime"
        )
    }
}
