import BerthCore

/// Command lines for a person's own login on a host.
enum RemoteShell {
    /// A word as a shell takes it, quoted where it must be.
    static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-_./:=@%+,".utf8.contains(byte)
            }
        }
        if plain, !word.isEmpty { return word }
        return "'" + word.replacing("'", with: "'\\''") + "'"
    }

    /// The words that log in on a host, with a terminal, as a user or whoever the person is.
    static func loginWords(_ host: HostRecord, user: String? = nil) -> [String] {
        var words = ["ssh", "-t"]
        if host.port != 22 { words += ["-p", "\(host.port)"] }
        if let user { words += ["-l", user] }
        // A name that starts with a dash must not be taken for an option.
        return words + ["--", host.hostName]
    }

    /// A line that logs in and becomes another user, whose files a slot's are.
    static func login(_ host: HostRecord, becoming user: String) -> String {
        (loginWords(host) + ["sudo", "-i", "-u", quoted(user)]).map(quoted).joined(separator: " ")
    }

    /// What the host's shell is to run: the agent's program, as the agent's user.
    static func manualWork(_ places: SlotPlaces, as login: String?, more: [String] = []) -> String {
        var words = login == places.user ? [] : ["sudo", "-u", places.user]
        words += [places.agent, "shell", "--state", places.state, "--yield"] + more
        return words.map(quoted).joined(separator: " ")
    }
}
