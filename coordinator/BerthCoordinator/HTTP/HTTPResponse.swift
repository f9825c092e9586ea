import BerthCore
import Foundation

/// The answer to a request. For `HEAD` the server sends status and headers only.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// The `size` bytes of a file from a place on, which must not change meanwhile.
        case file(path: String, offset: UInt64 = 0, size: UInt64)
        /// Parts that are sent as they come, until the stream ends. It is cancelled when the client leaves or the
        /// server stops. With the content type `text/event-stream` comment lines keep an idle stream alive.
        case stream(AsyncStream<[UInt8]>)
    }

    package var status: Int
    package var headers: HTTPHeaders
    package var body: Body

    package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A refusal with the API's error body.
    package static func error(status: Int, code: String, message: String) -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Two strings can always be encoded; without them the status still says what matters.
        let body = (try? encoder.encode(ErrorBody(code: code, message: message))).map { [UInt8]($0) } ?? []
        return HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: .bytes(body))
    }
}
