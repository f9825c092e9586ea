/// The bytes that a host sends, in order, for one consumer.
///
/// A consumer that does not keep up is not buffered without bound: reading stops, the host's window closes, and the
/// command on the host blocks. The sequence ends when the channel has; `SSHChannel.waitForEnd()` says why.
package struct SSHInbound: AsyncSequence, Sendable {
    package typealias Element = [UInt8]
    package typealias Failure = Never

    let channel: SSHChannel

    package struct AsyncIterator: AsyncIteratorProtocol {
        let channel: SSHChannel

        /// The next bytes; nil at the end, and when the task is cancelled.
        package mutating func next() async -> [UInt8]? {
            await channel.core.next()
        }

        package mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> [UInt8]? {
            await channel.core.next()
        }
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(channel: channel)
    }
}
