/// The difference of two texts as `diff -u` shows it. Equal inputs give equal bytes: no dates.
package enum UnifiedDiff {
    /// Most lines of either text that are compared line by line; beyond it the whole differs as one.
    private static let lineLimit = 1500

    private enum Line {
        case both(String)
        case removed(String)
        case added(String)
    }

    /// The difference with `context` lines around each change; empty when the texts are equal.
    package static func text(
        _ old: String,
        _ new: String,
        names: (old: String, new: String),
        context: Int = 3
    ) -> String {
        guard old != new else { return "" }
        let lines = compare(split(old), split(new))
        var text = "--- \(names.old)\n+++ \(names.new)\n"
        for hunk in hunks(lines, context) { text += show(lines, hunk) }
        return text
    }

    private static func split(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    private static func compare(_ old: [String], _ new: [String]) -> [Line] {
        var start = 0
        while start < min(old.count, new.count), old[start] == new[start] { start += 1 }
        var end = 0
        while end < min(old.count, new.count) - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
        let left = Array(old[start..<(old.count - end)])
        let right = Array(new[start..<(new.count - end)])
        let middle: [Line]
        if max(left.count, right.count) > lineLimit {
            middle = left.map(Line.removed) + right.map(Line.added)
        } else {
            middle = longestCommon(left, right)
        }
        return old[..<start].map(Line.both) + middle + old[(old.count - end)...].map(Line.both)
    }

    private static func longestCommon(_ left: [String], _ right: [String]) -> [Line] {
        let width = right.count + 1
        var lengths = [Int32](repeating: 0, count: (left.count + 1) * width)
        for i in left.indices.reversed() {
            for j in right.indices.reversed() {
                lengths[i * width + j] =
                    left[i] == right[j]
                    ? lengths[(i + 1) * width + j + 1] + 1
                    : max(lengths[(i + 1) * width + j], lengths[i * width + j + 1])
            }
        }
        var lines: [Line] = []
        var (i, j) = (0, 0)
        while i < left.count || j < right.count {
            if i < left.count, j < right.count, left[i] == right[j] {
                lines.append(.both(left[i]))
                (i, j) = (i + 1, j + 1)
            } else if i < left.count, j == right.count || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
                lines.append(.removed(left[i]))
                i += 1
            } else {
                lines.append(.added(right[j]))
                j += 1
            }
        }
        return lines
    }

    private static func hunks(_ lines: [Line], _ context: Int) -> [Range<Int>] {
        var hunks: [Range<Int>] = []
        for (index, line) in lines.enumerated() {
            if case .both = line { continue }
            let range = max(0, index - context)..<min(lines.count, index + context + 1)
            if let last = hunks.last, range.lowerBound <= last.upperBound {
                hunks[hunks.count - 1] = last.lowerBound..<range.upperBound
            } else {
                hunks.append(range)
            }
        }
        return hunks
    }

    private static func show(_ lines: [Line], _ hunk: Range<Int>) -> String {
        func count(_ lines: ArraySlice<Line>) -> (old: Int, new: Int) {
            lines.reduce(into: (0, 0)) { counts, line in
                switch line {
                case .both: counts = (counts.0 + 1, counts.1 + 1)
                case .removed: counts.0 += 1
                case .added: counts.1 += 1
                }
            }
        }
        let before = count(lines[..<hunk.lowerBound])
        let within = count(lines[hunk])
        func range(_ before: Int, _ count: Int) -> String {
            let start = count == 0 ? before : before + 1
            return count == 1 ? "\(start)" : "\(start),\(count)"
        }
        var text = "@@ -\(range(before.old, within.old)) +\(range(before.new, within.new)) @@\n"
        for line in lines[hunk] {
            switch line {
            case .both(let words): text += " \(words)\n"
            case .removed(let words): text += "-\(words)\n"
            case .added(let words): text += "+\(words)\n"
            }
        }
        return text
    }
}
