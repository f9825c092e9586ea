/// What decides on a Mac whether simulators and agents work. What could not be found out is absent.
package struct MacFacts: Sendable, Hashable, Codable {
    /// A launchd job that runs `berth-agent`.
    package struct Job: Sendable, Hashable, Codable {
        /// Path of its plist.
        package let path: String
        package let sessionType: String?
        package let processType: String?
        /// Seconds from SIGTERM to SIGKILL.
        package let exitTimeOut: Int?
        package let makesSession: Bool

        package init(
            path: String,
            sessionType: String?,
            processType: String?,
            exitTimeOut: Int?,
            makesSession: Bool
        ) {
            self.path = path
            self.sessionType = sessionType
            self.processType = processType
            self.exitTimeOut = exitTimeOut
            self.makesSession = makesSession
        }
    }

    /// Who is logged in at the screen.
    package let consoleUser: String?
    /// Whether launchd has a `gui` domain of the agents' user.
    package let hasGUISession: Bool?
    /// Whom the Mac logs in by itself after a restart.
    package let autoLoginUser: String?
    package let fileVaultIsOn: Bool?
    /// Minutes until the system sleeps; 0: never.
    package let sleepMinutes: Int?
    /// What `xcode-select -p` prints, or DEVELOPER_DIR.
    package let developerFolder: String?
    /// Where `xcrun --find simctl` finds it.
    package let simctl: String?
    package let jobs: [Job]
    /// Simulator runtimes that are registered, and images of runtimes on the disk.
    package let runtimes: Int?
    package let runtimeImages: Int?

    package init(
        consoleUser: String?,
        hasGUISession: Bool?,
        autoLoginUser: String?,
        fileVaultIsOn: Bool?,
        sleepMinutes: Int?,
        developerFolder: String?,
        simctl: String?,
        jobs: [Job],
        runtimes: Int?,
        runtimeImages: Int?
    ) {
        self.consoleUser = consoleUser
        self.hasGUISession = hasGUISession
        self.autoLoginUser = autoLoginUser
        self.fileVaultIsOn = fileVaultIsOn
        self.sleepMinutes = sleepMinutes
        self.developerFolder = developerFolder
        self.simctl = simctl
        self.jobs = jobs
        self.runtimes = runtimes
        self.runtimeImages = runtimeImages
    }
}
