/// Names of hosts and slots: letters, digits, dot, dash and underscore, at most 64.
package enum SlotName {
    /// Whether a text can name a host or slot.
    package static func isValid(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= Frame.routeLimit && !text.hasPrefix(".")
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                    || byte == 46 || byte == 95
            }
    }
}
