/// Which fault comes when: a function of the seed alone.
package struct FaultSchedule: Sendable {
    package enum Direction: String, Sendable, CaseIterable {
        case both
        case toHost = "to host"
        case fromHost = "from host"
    }

    package enum Fault: Sendable, Hashable {
        case killAgent(slot: Int)
        /// The agent stands still, its device tool goes on.
        case stopAgent(slot: Int, milliseconds: Int)
        /// Agent and device tool stand still, as on a machine that sleeps.
        case freezeSlot(slot: Int, milliseconds: Int)
        /// A second agent for the same slot and device.
        case secondAgent(slot: Int)
        case killCoordinator
        case stopCoordinator(milliseconds: Int)
        case killConnections(host: Int)
        /// Bytes of a direction go nowhere; the connection stays.
        case partition(host: Int, Direction, milliseconds: Int)
        case reset(host: Int)
        /// The connection breaks after some more bytes, wherever in a frame that is.
        case cut(host: Int, bytes: Int)
        case delay(host: Int, milliseconds: Int, each: Int)
        case fillDisk(host: Int, milliseconds: Int)
        case fillStore(milliseconds: Int)
        case killDatabase
        /// The wall clock of a host's agents, or of the coordinator (nil), is off by so many steps from now on.
        case jumpClock(host: Int?, steps: Int)

        /// What it is, without where and how long.
        package var name: String { "\(self)".split(separator: "(").first.map(String.init) ?? "\(self)" }
    }

    package struct Event: Sendable, Hashable {
        /// Milliseconds after the start.
        package let at: Int
        package let fault: Fault
    }

    /// Which faults come.
    package enum Mix: Sendable, Hashable {
        /// All kinds.
        case all
        /// All kinds, and as many long partitions.
        case partitions
        /// All kinds, and as many kills of the coordinator.
        case coordinatorKills
        /// Agents and the coordinator are killed, every 2 to 10 seconds, and nothing else.
        case kills
    }

    package let events: [Event]

    /// - Parameters:
    ///   - seed: the same gives the same events.
    ///   - milliseconds: how long the storm is.
    ///   - hosts: how many there are.
    ///   - slotsPerHost: how many slots each has.
    ///   - lease: the lease's length in milliseconds.
    ///   - pace: milliseconds from fault to fault, on the average.
    ///   - hasSmallDisks: whether disks can be filled.
    ///   - hasDatabase: whether there is a database server to kill.
    ///   - mix: which faults come.
    package init(
        seed: UInt64,
        milliseconds: Int,
        hosts: Int,
        slotsPerHost: Int,
        lease: Int,
        pace: Int,
        hasSmallDisks: Bool,
        hasDatabase: Bool,
        mix: Mix = .all
    ) {
        var numbers = SeededNumbers(seed: seed)
        var events: [Event] = []
        var at = pace
        while at < milliseconds {
            let slot = Int.random(in: 0..<(hosts * slotsPerHost), using: &numbers)
            let host = Int.random(in: 0..<hosts, using: &numbers)
            let long = Int.random(in: lease * 3 / 2...lease * 2, using: &numbers)
            let short = Int.random(in: 50...max(51, lease / 4), using: &numbers)
            let span = Int.random(in: 0..<3, using: &numbers) == 0 ? long : short
            let number = Int.random(in: 0..<100, using: &numbers)
            let direction = Direction.allCases[Int.random(in: 0..<3, using: &numbers)]
            let bytes = Int.random(in: 1...20_000, using: &numbers)
            let steps = Int.random(in: -4...4, using: &numbers)
            let fault: Fault =
                switch number {
                case ..<70 where mix == .kills: .killAgent(slot: slot)
                case _ where mix == .kills: .killCoordinator
                case ..<50 where mix == .partitions: .partition(host: host, .both, milliseconds: long)
                case ..<50 where mix == .coordinatorKills: .killCoordinator
                case ..<26: .killAgent(slot: slot)
                case ..<34: .stopAgent(slot: slot, milliseconds: span)
                case ..<40: .freezeSlot(slot: slot, milliseconds: span)
                case ..<46: .secondAgent(slot: slot)
                case ..<52: .killCoordinator
                case ..<55: .stopCoordinator(milliseconds: short)
                case ..<60: .killConnections(host: host)
                case ..<72: .partition(host: host, direction, milliseconds: span)
                case ..<77: .reset(host: host)
                case ..<84: .cut(host: host, bytes: bytes)
                case ..<90: .delay(host: host, milliseconds: short * 2, each: 50)
                case ..<94: hasSmallDisks ? .fillDisk(host: host, milliseconds: short * 2) : .killAgent(slot: slot)
                case ..<96: hasSmallDisks ? .fillStore(milliseconds: short) : .killCoordinator
                case ..<97: .jumpClock(host: nil, steps: steps)
                case ..<98: .jumpClock(host: host, steps: steps)
                default: hasDatabase ? .killDatabase : .reset(host: host)
                }
            events.append(Event(at: at, fault: fault))
            at += Int.random(in: mix == .kills ? 2000...10_000 : pace / 4...pace * 7 / 4, using: &numbers)
        }
        self.events = events
    }
}
