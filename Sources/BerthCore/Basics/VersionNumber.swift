/// A version of whole numbers between dots, ordered number by number: 18.10 is above 18.9, and 18 equals 18.0.
package struct VersionNumber: Sendable, Hashable, Comparable {
    private let numbers: [Int]

    /// Reads the written form; nil for anything else.
    package init?(_ text: some StringProtocol) {
        var numbers: [Int] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard !part.isEmpty, part.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(part) else {
                return nil
            }
            numbers.append(number)
        }
        while numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}
