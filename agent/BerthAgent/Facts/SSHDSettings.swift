import BerthCore
import BerthSystem
import Foundation

/// Limits of the sshd under which this process runs.
enum SSHDSettings {
    /// What matters to a coordinator's connection.
    static let names: Set = [
        "maxstartups", "maxsessions", "persourcemaxstartups", "logingracetime", "clientaliveinterval",
        "clientalivecountmax", "compression",
    ]

    /// Asks sshd itself, which as a rule only root may, else reads its files; nil when neither is possible.
    static func collect() async -> SSHDFacts? {
        let file = configurationFile ?? "/etc/ssh/sshd_config"
        if let text = await ShortCommand.output("/usr/sbin/sshd", ["-T", "-f", file]) {
            return SSHDFacts(source: "sshd -T -f \(file)", settings: settings(text, includes: false))
        }
        guard let bytes = try? DurableFile.read(file, limit: 1 << 20) else { return nil }
        return SSHDFacts(source: file, settings: settings(String(decoding: bytes, as: UTF8.self), includes: true))
    }

    /// The settings of a configuration outside of `Match`. The first line of a name counts.
    private static func settings(_ text: String, includes: Bool) -> [String: String] {
        var settings: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(maxSplits: 1) { $0 == " " || $0 == "\t" || $0 == "=" }
            guard words.count == 2, let name = words.first?.lowercased(), !name.hasPrefix("#") else { continue }
            if name == "match" { break }
            let value = words[1].trimmingCharacters(in: .whitespaces)
            if names.contains(name) {
                settings[name] = settings[name] ?? value
            } else if includes, name == "include" {
                for (name, value) in included(value) { settings[name] = settings[name] ?? value }
            }
        }
        return settings
    }

    /// Of files in one folder by a pattern `FOLDER/*.conf`, as distributions write it.
    private static func included(_ pattern: String) -> [String: String] {
        guard pattern.hasSuffix("/*.conf") || pattern.hasSuffix("/*") else { return [:] }
        let folder = String(pattern[..<(pattern.lastIndex(of: "/") ?? pattern.startIndex)])
        var all: [String: String] = [:]
        for name in Folders.names(in: folder) where pattern.hasSuffix("/*") || name.hasSuffix(".conf") {
            guard let bytes = try? DurableFile.read("\(folder)/\(name)", limit: 1 << 20) else { continue }
            let found = settings(String(decoding: bytes, as: UTF8.self), includes: false)
            for (name, value) in found { all[name] = all[name] ?? value }
        }
        return all
    }

    /// What the sshd among the ancestors of this process was started with; nil when it was not told any, or where
    /// processes do not show that.
    private static var configurationFile: String? {
        var process = getppid()
        for _ in 0..<16 where process > 1 {
            guard let bytes = FileManager.default.contents(atPath: "/proc/\(process)/cmdline"),
                let status = FileManager.default.contents(atPath: "/proc/\(process)/status")
            else { return nil }
            let words = String(decoding: bytes, as: UTF8.self).split { $0 == "\0" || $0 == " " }
            if words.first == "sshd:" || words.first?.hasSuffix("/sshd") == true,
                let flag = words.firstIndex(of: "-f"), flag + 1 < words.endIndex
            {
                return String(words[flag + 1])
            }
            let parent = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("PPid:") }
            guard let number = parent?.split(separator: "\t").last, let next = Int32(number) else { return nil }
            process = next
        }
        return nil
    }
}
