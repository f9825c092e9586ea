import BerthSystem
import Foundation

/// Our private key, read and judged before a connection is made.
struct ClientKey: Sendable {
    /// Where it was read.
    let path: String
    /// The file's text, wiped from memory with its last reference.
    let text: StableBytes
    /// Of the public half, as OpenSSH prints it; the file's path where the format hides it.
    let fingerprint: String

    /// Reads a key file. Blocks.
    /// - Throws: `SSHError.keyUnreadable`, `.keyEncrypted` or `.keyTypeUnsupported`
    static func load(path: String) throws(SSHError) -> ClientKey {
        let bytes: [UInt8]
        do {
            let file = try FileDescriptor(path: path, flags: O_RDONLY)
            var status = stat()
            guard fstat(file.number, &status) == 0 else { throw SystemError(operation: "look at", path: path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw SSHError.keyUnreadable(path: path, reason: "it is not a file")
            }
            guard status.st_mode & 0o077 == 0 else {
                throw SSHError.keyUnreadable(path: path, reason: "others may read it; chmod 600 it")
            }
            guard status.st_size <= 64 << 10 else {
                throw SSHError.keyUnreadable(path: path, reason: "with \(status.st_size) bytes it is no key")
            }
            bytes = try file.read(upTo: Int(status.st_size))
        } catch let error as SSHError {
            throw error
        } catch {
            throw .keyUnreadable(path: path, reason: "\(error)")
        }
        return try ClientKey(path: path, bytes: bytes)
    }

    private init(path: String, bytes: [UInt8]) throws(SSHError) {
        self.path = path
        text = StableBytes(bytes)
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        let marker = lines.first { $0.hasPrefix("-----BEGIN ") }
        switch marker {
        case "-----BEGIN OPENSSH PRIVATE KEY-----":
            let body = lines.drop { $0 != marker }.dropFirst().prefix { !$0.hasPrefix("-----") }.joined()
            let header = try Self.openSSHHeader(of: body, path: path)
            if header.cipher != "none" { throw .keyEncrypted(path: path) }
            guard HostKey.supportedAlgorithms.contains(header.publicKey.algorithm) else {
                throw .keyTypeUnsupported(path: path, type: header.publicKey.algorithm)
            }
            fingerprint = header.publicKey.fingerprint
        case "-----BEGIN EC PRIVATE KEY-----":
            if lines.contains(where: { $0.hasPrefix("Proc-Type:") && $0.contains("ENCRYPTED") }) {
                throw .keyEncrypted(path: path)
            }
            fingerprint = path
        case "-----BEGIN ENCRYPTED PRIVATE KEY-----":
            throw .keyEncrypted(path: path)
        case "-----BEGIN RSA PRIVATE KEY-----":
            throw .keyTypeUnsupported(path: path, type: "ssh-rsa")
        case "-----BEGIN DSA PRIVATE KEY-----":
            throw .keyTypeUnsupported(path: path, type: "ssh-dss")
        case .some(let other):
            throw .keyUnreadable(path: path, reason: "its format (\(other)) is not OpenSSH's; use ssh-keygen")
        case nil:
            throw .keyUnreadable(path: path, reason: "it holds no private key")
        }
    }

    /// The cleartext head of OpenSSH's format: cipher name and public key.
    private static func openSSHHeader(
        of base64: String,
        path: String
    ) throws(SSHError) -> (cipher: String, publicKey: HostKey) {
        let damaged = SSHError.keyUnreadable(path: path, reason: "its data is damaged")
        let magic = Array("openssh-key-v1\0".utf8)
        guard let data = Data(base64Encoded: base64), data.starts(with: magic) else { throw damaged }
        var rest = data.dropFirst(magic.count)[...]
        func number() throws(SSHError) -> Int {
            guard rest.count >= 4 else { throw damaged }
            defer { rest = rest.dropFirst(4) }
            return rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        }
        func string() throws(SSHError) -> [UInt8] {
            let length = try number()
            guard length <= rest.count else { throw damaged }
            defer { rest = rest.dropFirst(length) }
            return [UInt8](rest.prefix(length))
        }
        let cipher = try string()
        _ = try string()
        _ = try string()
        guard try number() == 1 else { throw damaged }
        let blob = try string()
        do {
            return (String(decoding: cipher, as: UTF8.self), try HostKey(blob: blob))
        } catch {
            throw damaged
        }
    }
}
