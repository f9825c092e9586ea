/// What the API answered, read and as it came.
struct APIAnswer<Value: Sendable>: Sendable {
    let value: Value
    /// The HTTP status.
    let status: Int
    let body: [UInt8]

    /// The body as text, without a newline at its end.
    var json: String {
        var text = String(decoding: body, as: UTF8.self)
        while text.hasSuffix("\n") { text.removeLast() }
        return text
    }
}
