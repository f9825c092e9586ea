/// What waits to be sent: two bounded queues of whole messages, taken out as a stream of bytes in which control
/// overtakes bulk between messages. A value without locks; `Sender` names who waits for room.
struct OutboundLanes<Sender> {
    private struct Lane {
        var messages: [[UInt8]] = []
        /// Index of the first message that is not yet taken completely.
        var head = 0
        /// How much of the first message has been taken.
        var taken = 0
        var queuedBytes = 0
        let bound: Int
        var waiting: [(sender: Sender, bytes: [UInt8])] = []

        var isEmpty: Bool { head == messages.count }
        var hasBegun: Bool { taken > 0 }

        func hasRoom(for count: Int) -> Bool { queuedBytes == 0 || queuedBytes + count <= bound }

        mutating func append(_ bytes: [UInt8]) {
            messages.append(bytes)
            queuedBytes += bytes.count
        }

        /// Moves as much of the first message as fits to the end of `bytes`.
        mutating func take(into bytes: inout [UInt8], limit: Int) {
            let count = min(messages[head].count - taken, limit - bytes.count)
            bytes += messages[head][taken..<taken + count]
            taken += count
            queuedBytes -= count
            guard taken == messages[head].count else { return }
            taken = 0
            messages[head] = []
            head += 1
            if head == messages.count || head >= 256 {
                messages.removeFirst(head)
                head = 0
            }
        }

        mutating func admitWaiting(into admitted: inout [Sender]) {
            var count = 0
            while count < waiting.count, hasRoom(for: waiting[count].bytes.count) {
                append(waiting[count].bytes)
                admitted.append(waiting[count].sender)
                count += 1
            }
            waiting.removeFirst(count)
        }
    }

    private var control: Lane
    private var bulk: Lane

    init(controlBound: Int, bulkBound: Int) {
        control = Lane(bound: controlBound)
        bulk = Lane(bound: bulkBound)
    }

    /// Nothing is queued and nobody waits.
    var isEmpty: Bool { control.isEmpty && bulk.isEmpty && control.waiting.isEmpty && bulk.waiting.isEmpty }

    /// Bytes queued in both lanes.
    var queuedBytes: Int { control.queuedBytes + bulk.queuedBytes }

    /// Queues a message if its lane has room and nobody waits before it. A message larger than the bound has room
    /// in an empty lane.
    mutating func enqueue(_ bytes: [UInt8], lane: SendLane) -> Bool {
        func admit(_ lane: inout Lane) -> Bool {
            guard lane.waiting.isEmpty, lane.hasRoom(for: bytes.count) else { return false }
            lane.append(bytes)
            return true
        }
        return lane == .control ? admit(&control) : admit(&bulk)
    }

    /// Lets a sender wait for room, after those who wait already.
    mutating func wait(_ sender: Sender, with bytes: [UInt8], lane: SendLane) {
        if lane == .control {
            control.waiting.append((sender, bytes))
        } else {
            bulk.waiting.append((sender, bytes))
        }
    }

    /// Takes out the sender for whom `condition` holds, if it still waits.
    mutating func removeWaiting(where condition: (Sender) -> Bool) -> Sender? {
        func remove(from lane: inout Lane) -> Sender? {
            lane.waiting.firstIndex { condition($0.sender) }.map { lane.waiting.remove(at: $0).sender }
        }
        return remove(from: &control) ?? remove(from: &bulk)
    }

    /// Drops everything and returns who waited.
    mutating func removeAll() -> [Sender] {
        let waiting = (control.waiting + bulk.waiting).map(\.sender)
        control = Lane(bound: control.bound)
        bulk = Lane(bound: bulk.bound)
        return waiting
    }

    /// Takes out the next bytes to send.
    /// - Parameter limit: the most to take, in bytes.
    /// - Returns: the bytes, and the senders whose messages found room because of it.
    mutating func take(upTo limit: Int) -> (bytes: [UInt8], admitted: [Sender]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(limit, queuedBytes))
        var admitted: [Sender] = []
        while bytes.count < limit {
            if bulk.hasBegun {
                bulk.take(into: &bytes, limit: limit)
            } else if !control.isEmpty {
                control.take(into: &bytes, limit: limit)
            } else if !bulk.isEmpty {
                bulk.take(into: &bytes, limit: limit)
            } else {
                break
            }
            control.admitWaiting(into: &admitted)
            bulk.admitWaiting(into: &admitted)
        }
        return (bytes, admitted)
    }
}
