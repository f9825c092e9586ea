import BerthCore
import Testing

@Suite("OSStatus in words")
struct StatusCodeTests {
    @Test("D1: not found, missing rights and bad parameters stay apart")
    func families() {
        #expect("\(StatusCode(-25300))" == "-25300 errSecItemNotFound (item not found)")
        #expect(StatusCode(-25300).family == .notFound)
        #expect(StatusCode(-34018).family == .missingRights && StatusCode(-25243).family == .missingRights)
        #expect([-50, -25303, -25306].allSatisfy { StatusCode($0).family == .badParameters })
        #expect(StatusCode(-25308).family == .locked && StatusCode(-25299).family == .duplicate)
        #expect("\(StatusCode(-12345))" == "-12345" && StatusCode(-12345).meaning == nil)
    }

    @Test("Every code but success says what it means for a migration")
    func meanings() {
        for code in StatusCode.known where code.code != 0 {
            #expect(code.meaning?.isEmpty == false && code.family != .unknown, "\(code)")
        }
        #expect(StatusCode.known.count >= 30)
    }
}
