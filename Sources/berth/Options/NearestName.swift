/// Finds what a misspelt name was probably meant to be.
enum NearestName {
    /// The known name with the fewest slips (letters missing, added, changed or swapped) from the given one, if they
    /// are few for its length.
    static func of(_ name: String, among known: [String]) -> String? {
        let limit = max(1, name.count / 3)
        return known.map { ($0, distance(Array(name), Array($0))) }
            .filter { $0.1 <= limit || ($0.0.hasPrefix(name) && name.count > 3) }
            .min { $0.1 < $1.1 }?.0
    }

    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for (i, character) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var best = min(previous[j] + (character == other ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, character == right[j - 1], left[i - 1] == other {
                    best = min(best, beforePrevious[j - 1] + 1)
                }
                row.append(best)
            }
            (beforePrevious, previous) = (previous, row)
        }
        return previous[right.count]
    }
}
