/// Where something stands in a text that a person wrote.
package struct DocumentPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    /// In characters, from 1.
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package var description: String { "\(line):\(column)" }

    package static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A document as a tree, whatever notation it was written in, with the place of every part.
package struct DocumentNode: Sendable, Hashable {
    package indirect enum Content: Sendable, Hashable {
        /// A text as it was written; not quoted, it may also mean a number or nothing.
        case scalar(String, isQuoted: Bool)
        case list([DocumentNode])
        /// In the order of the text; a key may stand in it twice.
        case map([Entry])
    }

    /// A key with its value.
    package struct Entry: Sendable, Hashable {
        package let key: DocumentNode
        package let value: DocumentNode

        package init(key: DocumentNode, value: DocumentNode) {
            self.key = key
            self.value = value
        }
    }

    package let position: DocumentPosition
    package let content: Content

    package init(position: DocumentPosition, content: Content) {
        self.position = position
        self.content = content
    }

    /// The text of a scalar.
    package var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// Whether nothing stands here: an empty value, `~` or `null`.
    package var isAbsent: Bool {
        if case .scalar(let text, isQuoted: false) = content { ["", "~", "null"].contains(text) } else { false }
    }

    /// What the node is, in words.
    package var kindInWords: String {
        switch content {
        case .scalar(let text, _): isAbsent ? "nothing" : text.debugDescription
        case .list: "a list"
        case .map: "a mapping"
        }
    }
}
