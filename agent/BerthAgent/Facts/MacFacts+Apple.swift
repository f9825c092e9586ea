#if os(macOS)
    import BerthCore
    import BerthSystem
    import Foundation

    extension MacFacts {
        private static let runtimeImages = "/System/Library/AssetsV2/com_apple_MobileAsset_iOSSimulatorRuntime"

        /// Asks the system's own tools; what they do not tell is left out.
        static func collect() async -> MacFacts? {
            let session = await ShortCommand.output("/bin/launchctl", ["print", "gui/\(getuid())"])
            let login = await ShortCommand.output(
                "/usr/bin/defaults",
                ["read", "/Library/Preferences/com.apple.loginwindow", "autoLoginUser"]
            )
            let vault = await ShortCommand.output("/usr/bin/fdesetup", ["status"])
            let power = await ShortCommand.output("/usr/bin/pmset", ["-g"])
            let selected = await ShortCommand.output("/usr/bin/xcode-select", ["-p"])
            let simctl = await ShortCommand.output("/usr/bin/xcrun", ["--find", "simctl"])
            let runtimes = await ShortCommand.output("/usr/bin/xcrun", ["simctl", "runtime", "list", "-j"])
            return MacFacts(
                consoleUser: consoleUser,
                hasGUISession: session != nil,
                autoLoginUser: login,
                fileVaultIsOn: vault.map { $0.contains("FileVault is On") },
                sleepMinutes: power.flatMap(sleepMinutes),
                developerFolder: ProcessInfo.processInfo.environment["DEVELOPER_DIR"] ?? selected,
                simctl: simctl,
                jobs: jobs,
                runtimes: runtimes.flatMap(count),
                runtimeImages: (try? FileManager.default.contentsOfDirectory(atPath: runtimeImages))?
                    .count { $0.hasSuffix(".asset") }
            )
        }

        /// The owner of the console; root's while nobody is logged in.
        private static var consoleUser: String? {
            var status = stat()
            guard stat("/dev/console", &status) == 0, status.st_uid != 0, let entry = getpwuid(status.st_uid) else {
                return nil
            }
            return String(cString: entry.pointee.pw_name)
        }

        /// The line ` sleep  1 (sleep prevented by …)` of pmset.
        private static func sleepMinutes(_ text: String) -> Int? {
            for line in text.split(whereSeparator: \.isNewline) {
                let words = line.split(separator: " ")
                if words.count > 1, words[0] == "sleep" { return Int(words[1]) }
            }
            return nil
        }

        private static func count(_ json: String) -> Int? {
            (try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])?.count
        }

        /// Jobs of launchd that run berth-agent, of this user and of the whole system.
        private static var jobs: [Job] {
            let folders = [
                NSHomeDirectory() + "/Library/LaunchAgents", "/Library/LaunchAgents", "/Library/LaunchDaemons",
            ]
            return folders.flatMap { folder in
                Folders.names(in: folder).filter { $0.hasSuffix(".plist") }.compactMap { job("\(folder)/\($0)") }
            }
        }

        private static func job(_ path: String) -> Job? {
            guard let data = FileManager.default.contents(atPath: path),
                let plist = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
                let words = plist["ProgramArguments"] as? [String], words.first?.hasSuffix("/berth-agent") == true
            else { return nil }
            return Job(
                path: path,
                sessionType: plist["LimitLoadToSessionType"] as? String,
                processType: plist["ProcessType"] as? String,
                exitTimeOut: plist["ExitTimeOut"] as? Int,
                makesSession: plist["SessionCreate"] as? Bool ?? false
            )
        }
    }
#endif
