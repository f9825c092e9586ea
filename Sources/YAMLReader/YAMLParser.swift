import BerthCore
import CYAML

/// The C parser over bytes that it owns: made, asked for one event after the other, and freed with the object.
///
/// The class is not Sendable; the parser and every event are used on the caller's thread only.
final class YAMLParser {
    /// One step of the parser, copied out of C memory.
    struct Event {
        enum Content {
            case documentStart
            case scalar(String, isQuoted: Bool)
            case listStart
            case listEnd
            case mapStart
            case mapEnd
            case alias
            case end
            case other
        }

        let position: DocumentPosition
        let content: Content
        /// An anchor or tag that stands before the node, as written.
        let decoration: String?
    }

    /// Allocated once, since the parser keeps pointers into itself.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// The parser reads from here until it is deleted.
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let isUsable: Bool

    init(_ bytes: [UInt8]) {
        input = .allocate(capacity: max(bytes.count, 1))
        _ = input.initialize(from: bytes)
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        isUsable = yaml_parser_initialize(parser) == 1
        if isUsable {
            yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
        }
    }

    deinit {
        if isUsable { yaml_parser_delete(parser) }
        parser.deinitialize(count: 1)
        parser.deallocate()
        input.deallocate()
    }

    /// - Throws: `DocumentProblem` where the text is no YAML.
    func next() throws(DocumentProblem) -> Event {
        guard isUsable else { throw DocumentProblem(.init(line: 1, column: 1), "no memory to read the text with") }
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw problem }
        defer { yaml_event_delete(&event) }
        let content: Event.Content
        var decoration: String?
        switch event.type {
        case YAML_DOCUMENT_START_EVENT: content = .documentStart
        case YAML_STREAM_END_EVENT: content = .end
        case YAML_ALIAS_EVENT: content = .alias
        case YAML_SEQUENCE_START_EVENT:
            content = .listStart
            decoration = Self.decoration(event.data.sequence_start.anchor, event.data.sequence_start.tag)
        case YAML_SEQUENCE_END_EVENT: content = .listEnd
        case YAML_MAPPING_START_EVENT:
            content = .mapStart
            decoration = Self.decoration(event.data.mapping_start.anchor, event.data.mapping_start.tag)
        case YAML_MAPPING_END_EVENT: content = .mapEnd
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let text = String(decoding: bytes, as: UTF8.self)
            content = .scalar(text, isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE)
            decoration = Self.decoration(scalar.anchor, scalar.tag)
        default: content = .other
        }
        return Event(position: Self.position(event.start_mark), content: content, decoration: decoration)
    }

    private var problem: DocumentProblem {
        let what = parser.pointee.problem.map { String(cString: $0) } ?? "the text cannot be read"
        let context = parser.pointee.context.map { "\(String(cString: $0)): " } ?? ""
        // Bytes that are no UTF-8 are refused before they have a line and a column.
        guard parser.pointee.error != YAML_READER_ERROR else {
            return DocumentProblem(
                Self.position(parser.pointee.mark),
                "this is no YAML text: \(what) at byte \(parser.pointee.problem_offset)"
            )
        }
        return DocumentProblem(Self.position(parser.pointee.problem_mark), "this is no YAML: \(context)\(what)")
    }

    private static func position(_ mark: yaml_mark_t) -> DocumentPosition {
        DocumentPosition(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    private static func decoration(
        _ anchor: UnsafeMutablePointer<UInt8>?,
        _ tag: UnsafeMutablePointer<UInt8>?
    ) -> String? {
        if let anchor { return "the anchor &\(String(cString: anchor))" }
        if let tag { return "the tag \(String(cString: tag))" }
        return nil
    }
}
