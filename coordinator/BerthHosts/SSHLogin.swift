/// What a connection needs to become a channel.
struct SSHLogin: Sendable {
    let user: String
    let userBytes: StableBytes
    let credential: SSHCredential
    let pinnedHostKey: HostKey
    let command: StableBytes
    let core: ChannelCore
}

/// What a connection is made for.
enum SSHPurpose: Sendable {
    case channel(SSHLogin)
    /// To see a key of one of these types, best first.
    case hostKey(algorithms: [String])
}
