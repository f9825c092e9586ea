import BerthCore
import BerthSystem
import Synchronization

/// Numbers the changes of the farm and tells its subscribers.
///
/// Everything is bounded: the feed remembers the latest changes only, and a subscriber that is slow gets one notice a
/// subject, the latest, and beyond a limit the advice to look at everything anew. Publishing never waits.
package final class ChangeFeed: Sendable {
    /// What a subscriber gets.
    package enum Delivery: Sendable, Hashable {
        /// Nothing was missed up to this number; notices follow.
        case ready(UInt64)
        /// Something may have been missed up to this number: all has to be looked at anew.
        case resync(UInt64)
        /// In the order of their numbers, one a subject.
        case changes([ChangeNotice])
    }

    /// A place in the feed, for going on there later.
    package struct Position: Sendable, Hashable {
        /// The feed's `life`.
        package let life: String
        package let number: UInt64

        package init(life: String, number: UInt64) {
            self.life = life
            self.number = number
        }
    }

    private struct State {
        var number: UInt64 = 0
        /// The latest notices, without gaps in their numbers.
        var remembered: [ChangeNotice] = []
        var subscriptions: [UInt64: WeakSubscription] = [:]
        var lastSubscription: UInt64 = 0
    }

    private struct WeakSubscription {
        weak var subscription: ChangeSubscription?
        let reader: Digest?
    }

    /// Names this feed: a coordinator that was started again counts from 1 again.
    package let life = Hex.encode(RandomBytes.make(4))
    private let memory: Int
    private let state = Mutex(State())

    /// - Parameter memory: how many changes can be asked for after the fact.
    package init(memory: Int = 1024) {
        self.memory = memory
    }

    /// Tells everybody that these subjects changed.
    package func publish(_ subjects: ChangeNotice.Subject...) {
        // The listeners are kept until the lock is free: the end of one takes it.
        let listeners = state.withLock { state in
            let notices = subjects.map { subject in
                state.number += 1
                return ChangeNotice(number: state.number, subject: subject)
            }
            state.remembered += notices
            // Cut now and then instead of at every notice, which would move the whole array each time.
            if state.remembered.count >= memory * 2 { state.remembered.removeFirst(state.remembered.count - memory) }
            let listeners = state.subscriptions.values.compactMap(\.subscription)
            // Under the lock, so that everybody gets the notices in the order of their numbers.
            for listener in listeners { listener.add(notices) }
            return listeners
        }
        withExtendedLifetime(listeners) {}
    }

    /// The changes from now on, or after a position. First comes `ready`, or `resync` when the feed no longer knows
    /// what followed the position. The stream has no end of its own, and is for one reader.
    /// - Parameters:
    ///   - position: where an earlier subscription ended.
    ///   - reader: the digest of the token with which it was asked for; absent for who needs none.
    ///   - form: turns a delivery into what the stream gives.
    /// - Returns: what is to be told, in the given form.
    package func subscribe<Element: Sendable>(
        after position: Position? = nil,
        reader: Digest? = nil,
        as form: @escaping @Sendable (Delivery) -> Element
    ) -> AsyncStream<Element> {
        let own = state.withLock { state in
            state.lastSubscription += 1
            return state.lastSubscription
        }
        let subscription = ChangeSubscription { [weak self] in
            self?.state.withLock { $0.subscriptions[own] = nil }
        }
        state.withLock { state in
            state.subscriptions[own] = WeakSubscription(subscription: subscription, reader: reader)
            guard let position else { return subscription.begin(with: .ready(state.number)) }
            let oldest = state.number - UInt64(state.remembered.count)
            guard position.life == life, (oldest...state.number).contains(position.number) else {
                return subscription.begin(with: .resync(state.number))
            }
            subscription.begin(with: .ready(position.number))
            subscription.add(state.remembered.filter { $0.number > position.number })
        }
        return AsyncStream {
            await subscription.next().map(form)
        } onCancel: {
            subscription.end()
        }
    }

    /// The tokens with which was subscribed.
    package var readers: Set<Digest> { state.withLock { Set($0.subscriptions.values.compactMap(\.reader)) } }

    /// Ends the subscriptions of a token.
    package func end(_ reader: Digest) {
        let theirs = state.withLock { state in
            state.subscriptions.values.filter { $0.reader == reader }.compactMap(\.subscription)
        }
        for subscription in theirs { subscription.end() }
    }

    /// How many subscribers there are.
    package var subscribers: Int { state.withLock { $0.subscriptions.count } }
}
