import BerthCoordinator
import Testing

/// What subscribers of the change feed can rely on.
@Suite(.timeLimit(.minutes(5)))
struct ChangeFeedTests {
    private func read(_ stream: AsyncStream<ChangeFeed.Delivery>, _ count: Int) async -> [ChangeFeed.Delivery] {
        var deliveries: [ChangeFeed.Delivery] = []
        for await delivery in stream.prefix(count) { deliveries.append(delivery) }
        return deliveries
    }

    @Test func aSubscriberIsToldWhatChangesFromThenOnInOrder() async {
        let feed = ChangeFeed()
        feed.publish(.init(.batch, "before"))
        let stream = feed.subscribe { $0 }
        feed.publish(.init(.run, "r-1"), .init(.slot, "a"))
        let run = ChangeNotice(number: 2, subject: .init(.run, "r-1"))
        let slot = ChangeNotice(number: 3, subject: .init(.slot, "a"))
        #expect(await read(stream, 2) == [.ready(1), .changes([run, slot])])
    }

    @Test func aSlowSubscriberGetsOneNoticeASubjectTheLatest() async {
        let feed = ChangeFeed()
        let stream = feed.subscribe { $0 }
        for _ in 0..<50_000 { feed.publish(.init(.slot, "a")) }
        feed.publish(.init(.slot, "b"))
        let first = ChangeNotice(number: 50_000, subject: .init(.slot, "a"))
        let second = ChangeNotice(number: 50_001, subject: .init(.slot, "b"))
        #expect(await read(stream, 2) == [.ready(0), .changes([first, second])])
    }

    @Test func aSubscriberThatIsFarBehindIsToldToLookAtEverything() async {
        let feed = ChangeFeed()
        let stream = feed.subscribe { $0 }
        for number in 1...5000 { feed.publish(.init(.run, "r-\(number)")) }
        #expect(await read(stream, 2) == [.ready(0), .resync(5000)])
    }

    @Test func whoComesBackGetsWhatItMissedAndNothingElse() async {
        let feed = ChangeFeed(memory: 4)
        for number in 1...10 { feed.publish(.init(.run, "r-\(number)")) }
        let known = feed.subscribe(after: .init(life: feed.life, number: 8)) { $0 }
        let missed = [9, 10].map { ChangeNotice(number: $0, subject: .init(.run, "r-\($0)")) }
        #expect(await read(known, 2) == [.ready(8), .changes(missed)])
        for position in [
            ChangeFeed.Position(life: feed.life, number: 1), .init(life: feed.life, number: 11),
            .init(life: "another", number: 8),
        ] {
            #expect(await read(feed.subscribe(after: position) { $0 }, 1) == [.resync(10)], "\(position)")
        }
    }

    @Test func whoNoLongerReadsIsForgotten() async {
        let feed = ChangeFeed()
        let reading = Task {
            for await _ in feed.subscribe(as: { $0 }) {}
        }
        while feed.subscribers == 0 { await Task.yield() }
        reading.cancel()
        await reading.value
        #expect(feed.subscribers == 0)
        feed.publish(.init(.run, "r-1"))
    }

    @Test func manyPublishersLoseNothing() async {
        let feed = ChangeFeed()
        let stream = feed.subscribe { $0 }
        async let publishing: Void = withTaskGroup(of: Void.self) { group in
            for publisher in 0..<4 {
                group.addTask {
                    for number in 0..<50 { feed.publish(.init(.run, "r-\(publisher)-\(number)")) }
                }
            }
        }
        var numbers: [UInt64] = []
        for await delivery in stream {
            if case .changes(let notices) = delivery { numbers += notices.map(\.number) }
            if numbers.count == 200 { break }
        }
        await publishing
        #expect(numbers == Array(1...200))
    }
}
