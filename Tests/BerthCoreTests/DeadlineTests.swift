import BerthCore
import Testing

struct DeadlineTests {
    @Test(
        arguments: [
            ("90m", 5_400_000), ("30s", 30_000), ("4h", 14_400_000), ("2d", 172_800_000),
            ("1970-01-01T00:00:00Z", 0), ("2026-09-21T14:13:20Z", 1_790_000_000_000),
            ("2024-02-29T23:59:59Z", 1_709_251_199_000), ("2026-09-21T14:13Z", 1_789_999_980_000),
        ] as [(String, Int64)]
    )
    func aTimeFromNowOrAnInstantIsRead(text: String, milliseconds: Int64) {
        // Instants do not depend on now.
        let now: Int64 = text.contains("T") ? 77 : 0
        #expect(Deadline(text)?.milliseconds(now: now) == milliseconds)
    }

    @Test(arguments: [
        "", "h", "0h", "-4h", "+4h", "4", "4w", "4.5h", "99999999999999999999d", "3651d", "2025-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-01-31", "2026-01-31T24:00:00Z", "2026-01-31T12:00:00", "tomorrow", "٤h",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(Deadline(text) == nil)
    }
}
