import BerthCore

/// Reads one YAML document into a tree that keeps the place of every part.
///
/// It takes the part of YAML that people need to write settings down: block and flow style, all scalar styles,
/// comments. Anchors, aliases, tags and merge keys are refused, so that what stands in a file is all that it means, and
/// a small file cannot unfold into a large tree.
package enum YAMLReader {
    /// Longest text that is read, in bytes.
    package static let sizeLimit = 1 << 20
    /// How deep lists and mappings may be nested.
    package static let depthLimit = 16

    /// - Returns: nil for a text that holds nothing but comments.
    /// - Throws: `DocumentProblem` at the first place that is no YAML or not accepted.
    package static func read(_ bytes: [UInt8]) throws(DocumentProblem) -> DocumentNode? {
        guard bytes.count <= sizeLimit else {
            throw DocumentProblem(
                .init(line: 1, column: 1),
                "the text has \(bytes.count) bytes; at most \(sizeLimit) are read"
            )
        }
        let parser = YAMLParser(bytes)
        var root: DocumentNode?
        while true {
            let event = try parser.next()
            switch event.content {
            case .documentStart where root != nil:
                throw DocumentProblem(event.position, "a second document begins here; write one in each file")
            case .end: return root
            case .scalar, .listStart, .mapStart: root = try node(event, parser, depth: 1)
            case .documentStart, .other: continue
            case .listEnd, .mapEnd, .alias:
                throw DocumentProblem(event.position, "nothing is open here that could end")
            }
        }
    }

    private static func node(
        _ event: YAMLParser.Event,
        _ parser: YAMLParser,
        depth: Int
    ) throws(DocumentProblem) -> DocumentNode {
        guard depth <= depthLimit else {
            throw DocumentProblem(event.position, "nested more than \(depthLimit) deep")
        }
        if let decoration = event.decoration {
            throw DocumentProblem(event.position, "\(decoration) is not accepted; write the value out")
        }
        let content: DocumentNode.Content
        switch event.content {
        case .scalar(let text, let isQuoted): content = .scalar(text, isQuoted: isQuoted)
        case .listStart:
            var nodes: [DocumentNode] = []
            while true {
                let next = try parser.next()
                if case .listEnd = next.content { break }
                nodes.append(try node(next, parser, depth: depth + 1))
            }
            content = .list(nodes)
        case .mapStart:
            var entries: [DocumentNode.Entry] = []
            while true {
                let next = try parser.next()
                if case .mapEnd = next.content { break }
                let key = try node(next, parser, depth: depth + 1)
                entries.append(.init(key: key, value: try node(try parser.next(), parser, depth: depth + 1)))
            }
            content = .map(entries)
        case .alias:
            throw DocumentProblem(event.position, "an alias (*name) is not accepted; write the value out")
        case .documentStart, .listEnd, .mapEnd, .end, .other:
            throw DocumentProblem(event.position, "a value is missing here")
        }
        return DocumentNode(position: event.position, content: content)
    }
}
