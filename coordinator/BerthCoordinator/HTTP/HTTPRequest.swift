/// A complete request, its body included.
package struct HTTPRequest: Sendable {
    /// In upper case as a rule, as it was sent: `GET`, `HEAD`, `POST` …
    package var method: String
    /// The path as it was sent, still percent-encoded, without the query.
    package var path: String
    /// The path's parts, percent-decoded; an encoded slash stays inside its part. Empty parts are left out, and
    /// there are never `.` and `..`.
    package var segments: [String]
    /// The query's fields, decoded; a field without `=` has an empty value. A name given twice is refused before.
    package var query: [String: String]
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// The client's address, without port.
    package var peer: String

    package init(
        method: String,
        path: String,
        segments: [String],
        query: [String: String] = [:],
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = [],
        peer: String = ""
    ) {
        self.method = method
        self.path = path
        self.segments = segments
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
    }
}
