import BerthCore
import Foundation

/// Frames that wait for a writer: control frames first, chunks from several lanes in turn. Every part is bounded.
///
/// Safe to share: all state is read and written under the condition's lock.
package final class FrameQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private let controlLimit: Int
    private let laneLimit: Int
    private var control: [[UInt8]] = []
    private var controlBytes = 0
    private var lanes: [String: [[UInt8]]] = [:]
    private var laneBytes: [String: Int] = [:]
    /// Lanes that have something, in the order of their turns.
    private var turns: [String] = []
    private var isFinished = false
    private var isWriting = false

    /// - Parameters:
    ///   - controlLimit: most bytes of waiting control frames.
    ///   - laneLimit: most bytes that wait in one lane.
    package init(controlLimit: Int, laneLimit: Int) {
        self.controlLimit = controlLimit
        self.laneLimit = laneLimit
    }

    /// Adds a control frame.
    /// - Returns: false when there is no room for it, or no writer any more.
    package func offer(_ frame: Frame) -> Bool {
        let bytes = frame.bytes
        return locked {
            guard !isFinished, controlBytes + bytes.count <= controlLimit else { return false }
            control.append(bytes)
            controlBytes += bytes.count
            condition.broadcast()
            return true
        }
    }

    /// Adds a frame that keeps its place in a lane: a chunk, or a message that must not overtake chunks.
    /// - Returns: false when there is no room for it, or no writer any more.
    package func offer(_ frame: Frame, lane: String) -> Bool {
        let bytes = frame.bytes
        return locked {
            guard !isFinished, laneBytes[lane, default: 0] + bytes.count <= laneLimit else { return false }
            put(bytes, lane)
            return true
        }
    }

    /// Like `offer(_:lane:)`, but waits for room. Blocks.
    /// - Returns: false when there is no writer any more.
    package func put(_ frame: Frame, lane: String) -> Bool {
        let bytes = frame.bytes
        return locked {
            while !isFinished, laneBytes[lane, default: 0] > 0, laneBytes[lane, default: 0] + bytes.count > laneLimit {
                condition.wait()
            }
            guard !isFinished else { return false }
            put(bytes, lane)
            return true
        }
    }

    /// What goes out in one write unless a single frame is longer, in bytes: what comes meanwhile waits no longer for it
    /// than for one chunk.
    private static let writeSize = 64 << 10

    /// The bytes to write next, of as many frames as go out at once. Blocks; nil when the queue is finished and empty.
    package func take() -> [UInt8]? {
        locked {
            isWriting = false
            condition.broadcast()
            while true {
                var bytes = takeControl() ?? takeFromLane(atMost: .max)
                while let taken = bytes?.count, taken < Self.writeSize,
                    let more = takeControl(atMost: Self.writeSize - taken)
                        ?? (control.isEmpty ? takeFromLane(atMost: Self.writeSize - taken) : nil)
                {
                    bytes? += more
                }
                if bytes != nil {
                    isWriting = true
                    condition.broadcast()
                    return bytes
                }
                if isFinished { return nil }
                condition.wait()
            }
        }
    }

    private func takeControl(atMost room: Int = .max) -> [UInt8]? {
        guard let bytes = control.first, bytes.count <= room else { return nil }
        control.removeFirst()
        controlBytes -= bytes.count
        return bytes
    }

    /// Takes no more frames; the writer still gets those that wait.
    package func finish() {
        locked {
            isFinished = true
            condition.broadcast()
        }
    }

    /// Takes no more frames and drops those that wait.
    package func abandon() {
        locked {
            isFinished = true
            control = []
            controlBytes = 0
            lanes = [:]
            laneBytes = [:]
            turns = []
            condition.broadcast()
        }
    }

    /// Drops what waits in a lane.
    package func drop(lane: String) {
        locked {
            lanes[lane] = nil
            laneBytes[lane] = nil
            turns.removeAll { $0 == lane }
            condition.broadcast()
        }
    }

    /// Waits until all that was added has been written. Blocks.
    /// - Returns: false when the time ran out first.
    package func waitUntilDrained(_ limit: Duration) -> Bool {
        let (seconds, attoseconds) = limit.components
        let deadline = Date(timeIntervalSinceNow: Double(seconds) + Double(attoseconds) / 1e18)
        return locked {
            while !control.isEmpty || !turns.isEmpty || isWriting {
                if !condition.wait(until: deadline) { return false }
            }
            return true
        }
    }

    private func put(_ bytes: [UInt8], _ lane: String) {
        if lanes[lane, default: []].isEmpty { turns.append(lane) }
        lanes[lane, default: []].append(bytes)
        laneBytes[lane, default: 0] += bytes.count
        condition.broadcast()
    }

    private func takeFromLane(atMost room: Int) -> [UInt8]? {
        guard let lane = turns.first, lanes[lane]?.first.map({ $0.count <= room }) ?? true else { return nil }
        turns.removeFirst()
        guard var frames = lanes.removeValue(forKey: lane), !frames.isEmpty else { return nil }
        let bytes = frames.removeFirst()
        laneBytes[lane, default: 0] -= bytes.count
        if frames.isEmpty {
            laneBytes[lane] = nil
        } else {
            lanes[lane] = frames
            turns.append(lane)
        }
        return bytes
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }
}
