/// How a host's sshd is reached.
package enum SSHRoute: Sendable, Hashable {
    /// By TCP.
    case direct
    /// Over the standard input and output of a shell command, in which `%h`, `%p` and `%r` stand for host, port and
    /// user, and `%%` for a percent sign.
    case proxyCommand(String)
    /// Through these hosts, first to last, each with its pinned key.
    case jump([SSHJump])
}

/// A host on the way to another one.
package struct SSHJump: Sendable, Hashable {
    package var user: String
    package var hostName: String
    package var port: UInt16
    package var pinnedHostKey: HostKey

    package init(user: String, hostName: String, port: UInt16, pinnedHostKey: HostKey) {
        self.user = user
        self.hostName = hostName
        self.port = port
        self.pinnedHostKey = pinnedHostKey
    }
}
