import BerthCore
import BerthSystem
import Foundation

/// How the coordinator gets to a host and who it is there, as `host add` and `host change` are told.
struct HostLogin {
    /// Empty when an agent holds the key, or nothing is said of it.
    let identityFile: String
    let agentKey: HostRecord.AgentKey?
    let proxyCommand: String?
    let jump: [HostRecord.JumpHost]?

    /// - Throws: `UsageError`, `CommandFailure` for files without a key, `SystemError`
    /// - Parameters:
    ///   - arguments: those of `host add` or `host change`.
    ///   - isComplete: whether it has to say which key to use.
    init(_ arguments: ParsedArguments, isComplete: Bool = true) throws {
        switch (arguments.value("--identity"), arguments.value("--agent-key")) {
        case (let file, nil) where file != nil || !isComplete:
            guard !arguments.has("--agent-socket") else {
                throw arguments.failure("--agent-socket needs --agent-key: which of the agent's keys to use")
            }
            (identityFile, agentKey) = (file ?? "", nil)
        case (nil, let key?):
            let fingerprint = key.hasPrefix("SHA256:") ? key : try Self.fingerprint(ofFile: key)
            identityFile = ""
            agentKey = .init(fingerprint: fingerprint, socket: arguments.value("--agent-socket"))
        case (_, nil): throw arguments.failure("--identity or --agent-key is missing: the key that the host lets in")
        case (_?, _?): throw arguments.failure("give --identity or --agent-key, not both")
        }
        proxyCommand = arguments.value("--proxy-command")
        let hops = arguments.values("--jump")
        guard proxyCommand == nil || hops.isEmpty else {
            throw arguments.failure("give --proxy-command or --jump, not both")
        }
        jump = hops.isEmpty ? nil : try hops.map { try Self.hop($0, arguments) }
    }

    private static func hop(_ text: String, _ arguments: ParsedArguments) throws -> HostRecord.JumpHost {
        guard let equals = text.firstIndex(of: "="), let at = text[..<equals].lastIndex(of: "@"), at > text.startIndex,
            let (host, port) = HostAddCommand.split(String(text[text.index(after: at)..<equals]))
        else {
            throw arguments.failure("\(text.debugDescription) is no jump host: write USER@HOST[:PORT]=KEYFILE")
        }
        let file = String(text[text.index(after: equals)...])
        return .init(user: String(text[..<at]), hostName: host, port: port, hostKey: try key(inFile: file))
    }

    private static func key(inFile file: String) throws -> String {
        try HostAddCommand.key(String(decoding: try DurableFile.read(file, limit: 64 << 10), as: UTF8.self), from: file)
    }

    /// As `ssh-keygen -l` prints it.
    private static func fingerprint(ofFile file: String) throws -> String {
        let words = try key(inFile: file).split(separator: " ")
        guard words.count == 2, let blob = Data(base64Encoded: String(words[1])) else {
            throw CommandFailure(.badInput, "\(file) holds a public key that is damaged")
        }
        return "SHA256:" + Data(SHA256.digest(of: [UInt8](blob))).base64EncodedString().prefix { $0 != "=" }
    }
}
