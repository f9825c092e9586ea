/// A document that does not follow its format.
package struct FormatError: Error, Hashable, CustomStringConvertible {
    /// Which document, such as `status file 2-verify.json`.
    package let document: String
    /// Where in it, such as `items[0].contract`; empty for the whole.
    package let place: String
    /// The line of the document, from 1; nil where lines mean nothing.
    package let line: Int?
    /// What is wrong.
    package let problem: String

    package init(document: String, place: String = "", line: Int? = nil, problem: String) {
        self.document = document
        self.place = place
        self.line = line
        self.problem = problem
    }

    /// The same error with a line.
    package func at(line: Int?) -> FormatError {
        FormatError(document: document, place: place, line: self.line ?? line, problem: problem)
    }

    package init(document: String, error: any Error) {
        self.document = document
        line = nil
        guard let decoding = error as? DecodingError else {
            (place, problem) = ("", "\(error)")
            return
        }
        func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            (context.codingPath + (last.map { [$0] } ?? [])).map { key in
                key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
            }.joined().trimmingPrefixDot
        }
        switch decoding {
        case .keyNotFound(let key, let context): (place, problem) = (path(context, key), "the value is missing")
        case .typeMismatch(let type, let context):
            (place, problem) = (path(context), "the value must be of type \(type)")
        case .valueNotFound(_, let context): (place, problem) = (path(context), "the value is null")
        case .dataCorrupted(let context):
            (place, problem) = (
                path(context), context.codingPath.isEmpty ? "it is no valid JSON" : context.debugDescription
            )
        @unknown default: (place, problem) = ("", "\(decoding)")
        }
    }

    package var description: String {
        let line = line.map { ", line \($0)" } ?? ""
        return "\(document)\(line) is malformed\(place.isEmpty ? "" : " at \(place)"): \(problem)"
    }
}

extension String {
    fileprivate var trimmingPrefixDot: String { hasPrefix(".") ? String(dropFirst()) : self }
}
