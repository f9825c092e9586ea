import BerthFaults
import Testing

/// How lost replies are counted: the shares that the results form claims rest on it.
struct ReplyTallyTests {
    @Test func repliesAreCountedByWhoSaidThem() {
        var tally = ReplyTally(
            notes: "recorded lost\nrenewed passed\naccepted lost\nresult passed\nresult passed\nmissing passed\nresu"
        )
        tally.add(.submission, 20, lost: 3)
        #expect(tally[.coordinator] == ReplyTally.Count(all: 2, lost: 1))
        #expect(tally[.agents] == ReplyTally.Count(all: 3, lost: 1))
        #expect(tally[.hosts] == ReplyTally.Count(all: 1, lost: 0))
        #expect(tally[.api] == ReplyTally.Count(all: 20, lost: 3))
        #expect(tally.lost == 5)
    }
}
