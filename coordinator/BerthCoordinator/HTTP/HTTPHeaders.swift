/// Header fields in their order; names are compared without regard to case.
package struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    private var fields: [(name: String, value: String)] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The first field of that name; setting it replaces all of them, setting nil removes them.
    package subscript(name: String) -> String? {
        get { fields.first { Self.same($0.name, name) }?.value }
        set {
            fields.removeAll { Self.same($0.name, name) }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    /// Adds a field and keeps others of the same name.
    package mutating func add(_ name: String, _ value: String) {
        fields.append((name, value))
    }

    /// All fields in their order.
    package var all: [(name: String, value: String)] { fields }

    private static func same(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && one.lowercased() == other.lowercased()
    }
}
