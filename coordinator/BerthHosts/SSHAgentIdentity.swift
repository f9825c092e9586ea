/// A key that an ssh-agent holds.
package struct SSHAgentIdentity: Sendable, Hashable {
    /// Path of the agent's socket; nil: what SSH_AUTH_SOCK names.
    package var socket: String?
    /// Fingerprint of the public key as `ssh-add -l` prints it: `SHA256:…`.
    package var fingerprint: String

    package init(socket: String?, fingerprint: String) {
        self.socket = socket
        self.fingerprint = fingerprint
    }
}
