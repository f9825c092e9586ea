import BerthCore
import Testing

/// What is said when the pinned system cannot be had.
struct OSOfferTests {
    private static func pins(_ texts: [String]) -> [OSPin] {
        texts.map { text in
            let parts = text.split(separator: "/").map(String.init)
            return OSPin(version: parts[0], build: parts[1])
        }
    }

    @Test func theNearestComeFirst() {
        let offer = OSOffer(
            platform: .iosSimulator,
            offered: Self.pins(["26.0/23A1", "18.10/22G1", "18.1/22B1", "18.0/22A9", "17.5/21F1"])
        )
        let wanted = OSPin(version: "18.0", build: "22A1")
        #expect(offer.nearest(to: wanted).map(\.version) == ["18.0", "18.1", "18.10", "17.5", "26.0"])
        let words = offer.refusal(of: wanted)
        #expect(words.contains("nearest are 18.0 (22A9), 18.1 (22B1), 18.10 (22G1);"))
        #expect(words.hasSuffix("xcodebuild -downloadPlatform iOS -buildVersion 22A1"))
        let nothing = OSOffer(platform: .iosDevice, offered: []).refusal(of: wanted)
        #expect(nothing.contains("none has ever joined; attach a device that runs exactly this build"))
    }

    @Test(arguments: [("18.10", "18.9", true), ("18", "18.0.0", false), ("2.0", "10", false), ("1", "0.9", true)])
    func versionsAreNumbersBetweenDots(left: String, right: String, isAbove: Bool) throws {
        #expect((try #require(VersionNumber(left)) > (try #require(VersionNumber(right)))) == isAbove)
        #expect(VersionNumber("20b1") == nil && VersionNumber("1..2") == nil && VersionNumber("") == nil)
    }
}
