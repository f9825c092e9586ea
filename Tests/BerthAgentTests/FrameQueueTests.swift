import BerthAgent
import BerthCore
import BerthSystem
import Testing

/// What overtakes what, and what happens when nobody writes.
@Suite struct FrameQueueTests {
    private func frame(_ text: String, size: Int = 0) -> Frame {
        Frame(type: .control, route: text, payload: [UInt8](repeating: 0, count: size))
    }

    /// The routes of the frames that wait, in the order of writing.
    private func drain(_ queue: FrameQueue) throws -> [String] {
        queue.finish()
        var decoder = FrameDecoder(expectsPreamble: false)
        var routes: [String] = []
        while let bytes = queue.take() {
            decoder.feed(bytes)
            while let frame = try decoder.next() { routes.append(frame.route) }
        }
        return routes
    }

    @Test("control goes first, lanes take turns, and a lane keeps its order")
    func order() throws {
        let queue = FrameQueue(controlLimit: 1000, laneLimit: 1000)
        for number in 1...3 { #expect(queue.offer(frame("a\(number)"), lane: "a")) }
        for number in 1...2 { #expect(queue.offer(frame("b\(number)"), lane: "b")) }
        #expect(queue.offer(frame("c1")))
        #expect(queue.offer(frame("c2")))
        #expect(try drain(queue) == ["c1", "c2", "a1", "b1", "a2", "b2", "a3"])
    }

    @Test("a full lane takes nothing and hinders neither control nor other lanes; a dropped one is empty")
    func limits() throws {
        let queue = FrameQueue(controlLimit: 100, laneLimit: 100)
        #expect(queue.offer(frame("a1", size: 80), lane: "a"))
        #expect(!queue.offer(frame("a2", size: 80), lane: "a"))
        #expect(queue.offer(frame("b1", size: 80), lane: "b"))
        #expect(queue.offer(frame("c1", size: 80)))
        #expect(!queue.offer(frame("c2", size: 80)))
        queue.drop(lane: "a")
        #expect(queue.offer(frame("a3", size: 80), lane: "a"))
        #expect(try drain(queue) == ["c1", "b1", "a3"])
        #expect(!queue.offer(frame("late")))
    }

    @Test("an abandoned queue frees the thread that waits for room")
    func abandoned() async {
        let queue = FrameQueue(controlLimit: 100, laneLimit: 100)
        #expect(queue.offer(frame("a1", size: 80), lane: "a"))
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.putBlocking(queue) }
            queue.abandon()
            for await taken in group { #expect(!taken) }
        }
        #expect(queue.take() == nil)
    }

    private func putBlocking(_ queue: FrameQueue) async -> Bool {
        await withCheckedContinuation { continuation in
            Threads.detach(name: "put") {
                continuation.resume(returning: queue.put(self.frame("a2", size: 80), lane: "a"))
            }
        }
    }
}
