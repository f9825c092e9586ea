import BerthSystem
import Foundation

/// One TCP connection with its SSH session, from name resolution to its end.
///
/// Confined to the thread of its event loop, which calls `drive` when the socket is ready, a deadline has passed or
/// something was asked of the channel.
final class SSHConnection {
    private enum Phase {
        case resolving
        case connecting(TCPSocket, rest: ArraySlice<SocketAddress>)
        case exchangingKeys(TCPSocket, LibSSH2Session)
        case authenticating(TCPSocket, LibSSH2Session, SSHLogin)
        case openingChannel(TCPSocket, LibSSH2Session, SSHLogin)
        case startingCommand(TCPSocket, LibSSH2Session, SSHLogin)
        case streaming(TCPSocket, LibSSH2Session, ChannelStream)
        case finished
    }

    private static let log = Log(component: "ssh")

    private let destination: SSHDestination
    private let purpose: SSHPurpose
    private let answer: OpenResult
    private let openDeadline: ContinuousClock.Instant
    private var phase = Phase.resolving
    /// Of the address that is being tried.
    private var addressDeadline: ContinuousClock.Instant?
    private var lastConnectError = ""
    private var events: Int16 = 0
    /// Whether `drive` should be called again without waiting.
    private(set) var wantsMore = false

    init(destination: SSHDestination, purpose: SSHPurpose, answer: OpenResult) {
        self.destination = destination
        self.purpose = purpose
        self.answer = answer
        openDeadline = .now.advanced(by: destination.connectTimeout)
    }

    var isFinished: Bool {
        if case .finished = phase { true } else { false }
    }

    /// The socket and the events that it waits for.
    var interest: (socket: Int32, events: Int16)? {
        switch phase {
        case .resolving, .finished: nil
        case .connecting(let socket, _): (socket.number, Int16(POLLOUT))
        case .exchangingKeys(let socket, _), .authenticating(let socket, _, _), .openingChannel(let socket, _, _),
            .startingCommand(let socket, _, _), .streaming(let socket, _, _):
            (socket.number, events)
        }
    }

    /// When `drive` has to be called even if nothing happened.
    var deadline: ContinuousClock.Instant? {
        switch phase {
        case .connecting: min(openDeadline, addressDeadline ?? openDeadline)
        case .streaming(_, _, let stream): stream.deadline
        case .finished: nil
        default: openDeadline
        }
    }

    // MARK: Events

    /// Starts to resolve the name; the closure gets the result, on any thread.
    func begin(whenResolved: @escaping @Sendable (Result<[SocketAddress], SSHError>) -> Void) {
        let (host, port) = (destination.host, destination.port)
        if let connected = destination.socket {
            do {
                phase = .connecting(try TCPSocket(connected: connected), rest: [])
            } catch {
                fail(.unreachable(host: host, port: port, reason: "\(error)"))
            }
            return
        }
        if let addresses = try? SocketAddress.resolve(host: host, port: port, numericOnly: true) {
            whenResolved(.success(addresses))
            return
        }
        Threads.detach(name: "resolve") {
            do throws(SSHError) {
                whenResolved(.success(try SocketAddress.resolve(host: host, port: port, numericOnly: false)))
            } catch {
                whenResolved(.failure(error))
            }
        }
    }

    func nameResolved(_ result: Result<[SocketAddress], SSHError>) {
        guard case .resolving = phase else { return }
        switch result {
        case .success(let addresses): connect(to: addresses[...])
        case .failure(let error): fail(error)
        }
    }

    /// Gives up opening; an open channel is not concerned.
    func abort() {
        switch phase {
        case .streaming, .finished: break
        default: fail(.cancelled)
        }
    }

    func drive(events: Int16, now: ContinuousClock.Instant) {
        wantsMore = false
        if case .streaming = phase {
        } else if openDeadline <= now, !isFinished {
            let limit = destination.connectTimeout
            fail(.timedOut(host: destination.host, port: destination.port, stage: stage, limit: limit))
            return
        }
        switch phase {
        case .resolving, .finished:
            break
        case .connecting(let socket, let rest):
            connecting(socket, rest: rest, events: events, now: now)
        case .exchangingKeys(let socket, _), .authenticating(let socket, _, _), .openingChannel(let socket, _, _),
            .startingCommand(let socket, _, _):
            if events & Int16(POLLERR) != 0, let error = socket.error {
                fail(destination.disconnected(error, stage: stage))
                return
            }
            open(now: now)
        case .streaming(let socket, let session, let stream):
            if case .channel(let login) = purpose, login.core.isCloseRequested {
                if stream.isIdle { session.disconnect() }
                end(.closedByUs)
            } else if events & Int16(POLLERR) != 0, let error = socket.error {
                end(SSHChannelEnd.Cause(error))
            } else {
                continueStream(stream, events: events, now: now)
            }
        }
    }

    // MARK: Opening

    private func connect(to addresses: ArraySlice<SocketAddress>) {
        var rest = addresses
        while let address = rest.popFirst() {
            do {
                let socket = try TCPSocket(connectingTo: address, endpoint: destination)
                // What is left of the time is shared among the addresses that are left.
                let now = ContinuousClock.now
                addressDeadline = now.advanced(by: (openDeadline - now) / (rest.count + 1))
                phase = .connecting(socket, rest: rest)
                return
            } catch {
                lastConnectError = String(cString: strerror((error as? SystemError)?.code ?? EIO))
            }
        }
        fail(.unreachable(host: destination.host, port: destination.port, reason: lastConnectError))
    }

    private func connecting(
        _ socket: TCPSocket,
        rest: ArraySlice<SocketAddress>,
        events: Int16,
        now: ContinuousClock.Instant
    ) {
        if events != 0 {
            if let error = socket.error {
                lastConnectError = String(cString: strerror(error.code))
                connect(to: rest)
                return
            }
            do {
                let session = try LibSSH2Session()
                phase = .exchangingKeys(socket, session)
                try session.setMethods(hostKeyAlgorithms: acceptedHostKeys, compresses: destination.compresses)
                open(now: now)
            } catch {
                fail(openingError(error))
            }
        } else if let addressDeadline, addressDeadline <= now {
            lastConnectError = "no answer"
            connect(to: rest)
        }
    }

    private var acceptedHostKeys: [String] {
        switch purpose {
        case .channel(let login): [login.pinnedHostKey.algorithm]
        case .hostKey(let algorithms): algorithms
        }
    }

    /// Repeats the one operation of the present phase until it blocks, and goes on to the next phase.
    private func open(now: ContinuousClock.Instant) {
        do throws(LibSSH2Failure) {
            while true {
                let progress: LibSSH2Session.Progress<Void>
                switch phase {
                case .exchangingKeys(let socket, let session):
                    progress = try session.handshake(socket: socket.number)
                case .authenticating(_, let session, let login):
                    progress =
                        switch login.credential {
                        case .key(let key): try session.authenticate(user: login.userBytes, key: key.text)
                        case .agent(let signer): try session.authenticate(user: login.userBytes, signer: signer)
                        }
                case .openingChannel(_, let session, _):
                    progress = try session.openChannel()
                case .startingCommand(_, let session, let login):
                    progress = try session.startCommand(login.command)
                case .streaming(_, _, let stream):
                    continueStream(stream, events: 0, now: now)
                    return
                case .resolving, .connecting, .finished:
                    return
                }
                guard case .done = progress else {
                    setOpeningEvents()
                    return
                }
                advance()
            }
        } catch {
            fail(openingError(error))
        }
    }

    /// What the session waits for while it opens.
    private func setOpeningEvents() {
        guard let session else { return }
        events = session.blocksOutbound ? Int16(POLLOUT) : Int16(POLLIN)
        if session.blocksInbound { events |= Int16(POLLIN) }
    }

    /// Goes to the phase after the present one, which has completed.
    private func advance() {
        switch phase {
        case .exchangingKeys(let socket, let session):
            keysExchanged(socket, session)
        case .authenticating(let socket, let session, let login):
            phase = .openingChannel(socket, session, login)
        case .openingChannel(let socket, let session, let login):
            phase = .startingCommand(socket, session, login)
        case .startingCommand(let socket, let session, let login):
            let watch = destination.watch(now: .now)
            let stream = ChannelStream(session: session, socket: socket, core: login.core, watch: watch)
            phase = .streaming(socket, session, stream)
            answer.give(.success(login.pinnedHostKey))
        case .resolving, .connecting, .streaming, .finished:
            break
        }
    }

    private func keysExchanged(_ socket: TCPSocket, _ session: LibSSH2Session) {
        let offered: HostKey
        do throws(SSHError) {
            guard let blob = session.hostKeyBlob else { throw .hostKeyMalformed(reason: "the host showed none") }
            offered = try HostKey(blob: blob)
        } catch {
            fail(error)
            return
        }
        switch purpose {
        case .hostKey:
            answer.give(.success(offered))
            session.disconnect()
            end(.closedByUs)
        case .channel(let login):
            guard offered == login.pinnedHostKey else {
                let (host, port) = (destination.host, destination.port)
                fail(.hostKeyChanged(host: host, port: port, pinned: login.pinnedHostKey, offered: offered))
                return
            }
            phase = .authenticating(socket, session, login)
        }
    }

    // MARK: Streaming and ending

    private func continueStream(_ stream: ChannelStream, events: Int16, now: ContinuousClock.Instant) {
        do {
            switch try stream.run(events: events, now: now) {
            case .wait(let events): self.events = events
            case .yield: wantsMore = true
            case .ended(let cause): end(cause)
            }
        } catch {
            end(SSHChannelEnd.Cause(error))
        }
    }

    private func fail(_ error: SSHError) {
        answer.give(.failure(error))
        end(.closedByUs)
    }

    /// Ends everything: the connection, the session and, for its users, the channel.
    func end(_ cause: SSHChannelEnd.Cause) {
        var errorOutput: [UInt8] = []
        if case .streaming(_, _, let stream) = phase { errorOutput = stream.errorOutput }
        if let session {
            socket?.endBothDirections()
            if !session.free() { Self.log.error("Memory of an SSH session is lost", ["host": destination.host]) }
        }
        destination.proxy?.end()
        phase = .finished
        wantsMore = false
        let end = SSHChannelEnd(cause: cause, errorOutput: errorOutput)
        answer.give(.failure(.closed(end)))
        if case .channel(let login) = purpose { login.core.finish(end) }
    }

    /// Translates a failure of the present phase.
    private func openingError(_ failure: LibSSH2Failure) -> SSHError {
        if case .channel(let login) = purpose { return destination.error(for: failure, stage: stage, login: login) }
        return destination.error(for: failure, stage: stage, login: nil)
    }

    private var stage: SSHError.Stage {
        switch phase {
        case .resolving: .resolving
        case .connecting: .connecting
        case .exchangingKeys: .exchangingKeys
        case .authenticating: .authenticating
        case .openingChannel: .openingChannel
        case .startingCommand, .streaming, .finished: .startingCommand
        }
    }

    private var session: LibSSH2Session? {
        switch phase {
        case .exchangingKeys(_, let session), .authenticating(_, let session, _), .openingChannel(_, let session, _),
            .startingCommand(_, let session, _), .streaming(_, let session, _):
            session
        case .resolving, .connecting, .finished: nil
        }
    }

    private var socket: TCPSocket? {
        switch phase {
        case .connecting(let socket, _), .exchangingKeys(let socket, _), .authenticating(let socket, _, _),
            .openingChannel(let socket, _, _), .startingCommand(let socket, _, _), .streaming(let socket, _, _):
            socket
        case .resolving, .finished: nil
        }
    }
}
