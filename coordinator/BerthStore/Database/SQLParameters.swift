/// Rewrites the parameters of a statement.
enum SQLParameters {
    /// `?` and `?3` as `$1` and `$3`. Text in quotes, names in double quotes and comments stay as they are.
    static func numbered(_ sql: String) -> String {
        var result: [UInt8] = []
        var next = 1
        var quote: UInt8?
        var isComment = false
        var bytes = Array(sql.utf8)[...]
        while let byte = bytes.popFirst() {
            if isComment {
                isComment = byte != UInt8(ascii: "\n")
            } else if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == UInt8(ascii: "-"), bytes.first == byte {
                isComment = true
            } else if byte == UInt8(ascii: "?") {
                let digits = bytes.prefix { (48...57).contains($0) }
                bytes = bytes.dropFirst(digits.count)
                result.append(UInt8(ascii: "$"))
                if digits.isEmpty {
                    result += Array("\(next)".utf8)
                    next += 1
                } else {
                    result += digits
                }
                continue
            }
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
