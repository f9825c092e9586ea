import Foundation
import Security

// The states that a case starts from, and their end.
extension ProbeSession {
    /// Changes marker and items as the launch asks, and proves it by reading.
    mutating func prepare(in folder: ProbeFolder) throws {
        let preparation = request.preparation
        guard let before = status.census else {
            return fail("the items that are there cannot be listed, so nothing was prepared")
        }
        if let marker = preparation.marker { set(marker) }
        if preparation.deletesTarget {
            guard let target else { return fail("this build knows no target item that could be deleted") }
            delete(target, "delete-target")
        }
        if preparation.deletesLegacy { delete(legacy, "delete-legacy") }
        if preparation.bystanders > 0 { try addBystanders(preparation.bystanders, in: folder) }
        readItems()
        status.censusAfter = takeCensus("census-after")
        guard let after = status.censusAfter else {
            return fail("the items that are there cannot be listed, so nothing is proved")
        }
        if after.bystanders != before.bystanders + preparation.bystanders {
            fail("there are \(after.bystanders) bystanders, \(before.bystanders + preparation.bystanders) should be")
        }
    }

    private mutating func set(_ marker: ProbePreparation.Marker) {
        let wanted: Int? =
            switch marker {
            case .version(let version): version
            case .own: configuration.schemaVersion
            case .cleared: nil
            }
        if let wanted { environment.marker.set(wanted) } else { environment.marker.clear() }
        if environment.marker.version != wanted { fail("the marker does not keep what was set") }
    }

    private mutating func delete(_ contract: KeychainItemContract, _ what: String) {
        let answer = store.delete(contract)
        note(what, answer)
        if answer != errSecSuccess, answer != errSecItemNotFound { fail("\(what) answered OSStatus \(answer)") }
    }

    private mutating func addBystanders(_ count: Int, in folder: ProbeFolder) throws {
        let first = folder.bystanders
        // Noted before they are added, so that a cleanup finds all that can be there.
        try folder.leave(bystanders: first + count)
        for number in first..<first + count {
            let answer = store.add(Data("bystander \(number)".utf8), as: bystander(number))
            note("add-bystander", answer)
            if answer != errSecSuccess { return fail("a bystander's addition answered OSStatus \(answer)") }
        }
    }

    /// Deletes exactly the bystanders that this attempt added, after everything was counted.
    mutating func deleteBystanders(in folder: ProbeFolder) {
        for number in 0..<folder.bystanders {
            let answer = store.delete(bystander(number))
            // A broad deletion may have taken it; the counting before says so.
            if answer != errSecSuccess, answer != errSecItemNotFound { note("delete-bystander", answer) }
        }
    }

    /// An item of the app that is not the migration's. Its names carry the attempt's digits, but not as its suffix.
    private func bystander(_ number: Int) -> KeychainItemContract {
        KeychainItemContract(
            service: "\(configuration.legacy.service).bystander",
            account: "bystander-\(number).\(nonce.digits.prefix(16))",
            accessGroup: configuration.legacy.accessGroup,
            accessible: .whenUnlocked
        )
    }
}
