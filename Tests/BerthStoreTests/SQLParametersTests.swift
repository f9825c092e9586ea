import Testing

@testable import BerthStore

@Suite("SQL parameters")
struct SQLParametersTests {
    @Test(
        "Parameters are numbered; what is quoted or a comment is left as it is",
        arguments: [
            ("SELECT ? + ?", "SELECT $1 + $2"),
            ("SELECT ?2, ?1, ?2", "SELECT $2, $1, $2"),
            ("SELECT '?', \"a?\", ? -- why?\n, ?", "SELECT '?', \"a?\", $1 -- why?\n, $2"),
            ("SELECT 'it''s ?', ?12", "SELECT 'it''s ?', $12"),
            ("SELECT 'ü?', 3 - ?", "SELECT 'ü?', 3 - $1"),
        ]
    )
    func numbered(_ sql: String, _ expected: String) {
        #expect(SQLParameters.numbered(sql) == expected)
    }
}
