import BerthSystem
import Foundation

/// What an sshd says of itself before any key is exchanged, in the clear.
package struct SSHGreeting: Sendable, Hashable {
    /// Such as `SSH-2.0-OpenSSH_9.2p1`.
    package let banner: String
    package let keyExchanges: [String]
    package let hostKeyTypes: [String]
    /// Towards the host.
    package let ciphers: [String]
    package let macs: [String]
    package let compressions: [String]
    /// Until the connection was made, and until the greeting was complete.
    package let connectTime: Duration
    package let greetingTime: Duration

    /// Host key types that both sides know.
    package var usableHostKeyTypes: [String] { hostKeyTypes.filter(HostKey.supportedAlgorithms.contains) }

    /// Whether it compresses for those who want it.
    package var compresses: Bool { compressions.contains(SSHMethods.compression) }

    /// What there is no common method for, in words; empty if a session can be made.
    package var missingMethods: [String] {
        var missing: [String] = []
        if !keyExchanges.contains(where: SSHMethods.keyExchanges.contains) { missing.append("key exchange") }
        if usableHostKeyTypes.isEmpty { missing.append("host key type") }
        if !ciphers.contains(where: SSHMethods.ciphers.contains) { missing.append("cipher") }
        if !macs.contains(where: SSHMethods.macs.contains) { missing.append("message digest") }
        return missing
    }

    /// What sshd_config must allow, for messages.
    package static let neededConfiguration = SSHMethods.configuration.joined(separator: "; ")

    /// Reads the name lists of a KEXINIT packet's payload (RFC 4253, 7.1); nil if it is none.
    static func nameLists(of payload: [UInt8]) -> [[String]]? {
        guard payload.first == 20, payload.count > 17 else { return nil }
        var rest = payload.dropFirst(17)
        var lists: [[String]] = []
        for _ in 0..<8 {
            guard rest.count >= 4 else { return nil }
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard length <= rest.count else { return nil }
            let text = String(decoding: rest.prefix(length), as: UTF8.self)
            lists.append(text.split(separator: ",").map(String.init))
            rest = rest.dropFirst(length)
        }
        return lists
    }
}
