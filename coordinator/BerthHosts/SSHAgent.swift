import BerthSystem
import Foundation

/// A conversation with an ssh-agent over its Unix socket. All calls block, for ten seconds at most, and belong on
/// threads of their own: an agent may ask a person before it signs.
struct SSHAgent {
    private enum Message {
        static let failure: UInt8 = 5
        static let listRequest: UInt8 = 11
        static let listAnswer: UInt8 = 12
        static let signRequest: UInt8 = 13
        static let signAnswer: UInt8 = 14
    }

    private static let answerLimit = 256 << 10
    private static let timeout = Duration.seconds(10)

    let socket: String

    /// - Throws: `SSHError.agentUnusable` when neither a socket is given nor SSH_AUTH_SOCK is set
    init(socket: String?) throws(SSHError) {
        guard let path = socket ?? ProcessInfo.processInfo.environment["SSH_AUTH_SOCK"], !path.isEmpty else {
            throw .agentUnusable(socket: "SSH_AUTH_SOCK", reason: "the coordinator's environment does not have it")
        }
        self.socket = path
    }

    /// The public keys that the agent holds.
    /// - Throws: `SSHError.agentUnusable`
    func keys() throws(SSHError) -> [HostKey] {
        var answer = try ask([Message.listRequest], expecting: Message.listAnswer)[...]
        guard let count = Self.number(&answer) else { throw damaged }
        var keys: [HostKey] = []
        for _ in 0..<count {
            guard let blob = Self.string(&answer), Self.string(&answer) != nil else { throw damaged }
            // Kinds of keys that we do not know are somebody else's.
            if let key = try? HostKey(blob: blob) { keys.append(key) }
        }
        return keys
    }

    /// The key with a fingerprint.
    /// - Throws: `SSHError.agentUnusable`, `.agentKeyMissing`, `.keyTypeUnsupported`
    func key(fingerprint: String) throws(SSHError) -> HostKey {
        let keys = try keys()
        guard let key = keys.first(where: { $0.fingerprint == fingerprint }) else {
            throw .agentKeyMissing(socket: socket, fingerprint: fingerprint, held: keys.map(\.description))
        }
        guard HostKey.supportedAlgorithms.contains(key.algorithm) else {
            throw .keyTypeUnsupported(path: "\(fingerprint) in the agent at \(socket)", type: key.algorithm)
        }
        return key
    }

    /// The bare signature of some data, without the name of its type.
    /// - Throws: `SSHError.agentUnusable`
    func signature(of data: [UInt8], key: HostKey) throws(SSHError) -> [UInt8] {
        let request = [Message.signRequest] + Self.field(key.blob) + Self.field(data) + [0, 0, 0, 0]
        var answer = try ask(request, expecting: Message.signAnswer)[...]
        guard var signature = Self.string(&answer)?[...], Self.string(&signature) != nil,
            let bytes = Self.string(&signature)
        else { throw damaged }
        return bytes
    }

    private var damaged: SSHError { .agentUnusable(socket: socket, reason: "its answer makes no sense") }

    private func ask(_ request: [UInt8], expecting type: UInt8) throws(SSHError) -> [UInt8] {
        let answer: [UInt8]
        do {
            let connection = try SocketConnection.connect(unixPath: socket)
            let watchdog = Task {
                try await Task.sleep(for: Self.timeout)
                connection.shutdown()
            }
            defer { watchdog.cancel() }
            try connection.write(Self.field(request))
            guard let header = try connection.readExactly(4) else {
                throw SSHError.agentUnusable(socket: socket, reason: "it closed the connection without an answer")
            }
            let length = header.reduce(0) { $0 << 8 | Int($1) }
            guard length > 0, length <= Self.answerLimit, let body = try connection.readExactly(length) else {
                throw damaged
            }
            answer = body
        } catch let error as SSHError {
            throw error
        } catch {
            let code = (error as? SystemError)?.code ?? EIO
            throw .agentUnusable(socket: socket, reason: String(cString: strerror(code)))
        }
        guard answer[0] != Message.failure else { throw .agentUnusable(socket: socket, reason: "it refused") }
        guard answer[0] == type else { throw damaged }
        return Array(answer.dropFirst())
    }

    private static func field(_ bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    private static func string(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard let length = number(&rest), length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }
}
