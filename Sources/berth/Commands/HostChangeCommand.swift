import BerthCore

/// Changes how an enrolled host is reached.
struct HostChangeCommand: Command {
    static let description = CommandDescription(
        name: "host change",
        summary: "Change how a host is reached; what is not given stays as it is.",
        operands: [.init(name: "HOST", help: "the host's name")],
        options: HostAddCommand.description.options.map { .init(name: $0.name, kind: $0.kind, help: $0.help) } + [
            .init(name: "--direct", kind: .flag, help: "without the proxy command or jump hosts that lead to it"),
            .init(name: "--no-compression", kind: .flag, help: "do not compress any more"),
        ],
        discussion: """
            The coordinator connects anew; what runs on the host goes on meanwhile. --identity replaces --agent-key and the
            other way round, --proxy-command replaces --jump. To accept the key of a host that was set up anew, `host trust`
            is better: it pins only what the host shows. `berth audit` tells who changed what.
            """
    )

    private let name: String
    private let change: HostChange

    init(_ arguments: ParsedArguments) throws {
        name = arguments.operands[0]
        var change = HostChange()
        if let address = arguments.value("--address") {
            guard let (hostName, port) = HostAddCommand.split(address) else {
                throw arguments.failure(
                    "\(address.debugDescription) is no address: write HOST, HOST:PORT or [ADDRESS]:PORT"
                )
            }
            (change.hostName, change.port) = (hostName, port)
        }
        change.user = arguments.value("--user")
        let login = try HostLogin(arguments, isComplete: false)
        change.identityFile = login.identityFile.isEmpty ? nil : login.identityFile
        change.agentKey = login.agentKey
        change.proxyCommand = login.proxyCommand
        change.jump = login.jump
        if arguments.has("--direct") {
            guard change.proxyCommand == nil, change.jump == nil else {
                throw arguments.failure("--direct goes with neither --proxy-command nor --jump")
            }
            change.jump = []
        }
        switch (arguments.has("--compression"), arguments.has("--no-compression")) {
        case (true, true): throw arguments.failure("give --compression or --no-compression, not both")
        case (true, false): change.compression = true
        case (false, true): change.compression = false
        case (false, false): break
        }
        change.hostKey = try HostAddCommand.hostKey(arguments)
        guard change != HostChange() else {
            throw arguments.failure("there is nothing to change: give what is to be different, such as --address")
        }
        self.change = change
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let answer = try await context.client.post(APIClient.path("hosts", name, "change"), change, as: HostView.self)
        context.show(answer) { view in
            let host = view.host
            return PlainText.safe(
                "\(host.name) is reached as \(host.user)@\(host.hostName) port \(host.port), with the key \(view.fingerprint)"
            ) + "\n"
        }
        return .success
    }
}
