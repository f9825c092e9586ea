/// What is negotiated: of what libssh2 1.10 knows, that which is neither broken nor slow.
enum SSHMethods {
    static let keyExchanges = [
        "curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256", "ecdh-sha2-nistp384",
        "ecdh-sha2-nistp521", "diffie-hellman-group16-sha512", "diffie-hellman-group14-sha256",
    ]
    static let ciphers = ["aes128-ctr", "aes256-ctr"]
    static let macs = ["hmac-sha2-256", "hmac-sha2-512"]
    /// Begins after the login; what is older than it compresses for strangers too.
    static let compression = "zlib@openssh.com"

    /// Lines of sshd_config that allow what is needed.
    static let configuration = [
        "KexAlgorithms +\(keyExchanges[0])", "Ciphers +\(ciphers.joined(separator: ","))",
        "MACs +\(macs.joined(separator: ","))",
    ]
}
