import BerthSystem
import Synchronization

/// Lets an agent sign the one login of a connection, on a thread of its own, while the event loop serves others.
final class AgentSigner: Sendable {
    private enum State {
        case idle
        case asked
        case answered(Result<[UInt8], SSHError>)
    }

    let agent: SSHAgent
    let key: HostKey
    private let wake: @Sendable () -> Void
    private let state = Mutex(State.idle)

    /// - Parameters:
    ///   - agent: who signs.
    ///   - key: with which key.
    ///   - wake: makes the loop look at the connection when the signature is there.
    init(agent: SSHAgent, key: HostKey, wake: @escaping @Sendable () -> Void) {
        self.agent = agent
        self.key = key
        self.wake = wake
    }

    /// The signature; nil while the agent is being asked, which the first call begins.
    func signature(of data: [UInt8]) -> Result<[UInt8], SSHError>? {
        let (answer, begins) = state.withLock { state -> (Result<[UInt8], SSHError>?, Bool) in
            switch state {
            case .idle:
                state = .asked
                return (nil, true)
            case .asked: return (nil, false)
            case .answered(let result): return (result, false)
            }
        }
        if begins {
            Threads.detach(name: "ssh-agent") {
                let result: Result<[UInt8], SSHError>
                do throws(SSHError) {
                    result = .success(try self.agent.signature(of: data, key: self.key))
                } catch {
                    result = .failure(error)
                }
                self.state.withLock { $0 = .answered(result) }
                self.wake()
            }
        }
        return answer
    }

    /// Why the agent did not sign.
    var failure: SSHError? {
        state.withLock { state in
            guard case .answered(.failure(let error)) = state else { return nil }
            return error
        }
    }
}
