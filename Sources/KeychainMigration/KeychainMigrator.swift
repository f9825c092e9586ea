import Foundation
import Security

/// Moves one keychain item from its old form into its new one, in the only order that cannot lose it (C2): read the old
/// item, add the new one, read it back and compare the digests, and only then delete the old one.
///
/// Run it at every start. It looks for the data each time, whatever the marker says (C4), and writes nothing once the
/// item is in its new form (G2). If anything fails, the old item is still there (C5), and the next start tries again.
///
/// Two contracts that name the same item and differ in accessibility only are migrated by an update in place.
public struct KeychainMigrator {
    private let legacy: KeychainItemContract
    private let target: KeychainItemContract
    private let schemaVersion: Int
    private let marker: KeychainSchemaMarker
    private let isWellFormed: (Data) -> Bool
    private let store: KeychainItemStore

    /// A migrator between two forms of one item.
    ///
    /// - Parameters:
    ///   - legacy: the form that the old build writes.
    ///   - target: the form that this build writes.
    ///   - schemaVersion: the version of the migration, which the marker holds once it is complete (C3).
    ///   - preferences: where the marker is kept.
    ///   - isWellFormed: whether a value is one that the old build can have written. A malformed one is left where it
    ///     is (M4).
    public init(
        legacy: KeychainItemContract,
        target: KeychainItemContract,
        schemaVersion: Int,
        preferences: UserDefaults = .standard,
        isWellFormed: @escaping (Data) -> Bool = { _ in true }
    ) {
        self.init(
            legacy: legacy,
            target: target,
            schemaVersion: schemaVersion,
            marker: KeychainSchemaMarker(preferences: preferences),
            isWellFormed: isWellFormed,
            keychain: .system
        )
    }

    init(
        legacy: KeychainItemContract,
        target: KeychainItemContract,
        schemaVersion: Int,
        marker: KeychainSchemaMarker,
        isWellFormed: @escaping (Data) -> Bool,
        keychain: KeychainAccess
    ) {
        self.legacy = legacy
        self.target = target
        self.schemaVersion = schemaVersion
        self.marker = marker
        self.isWellFormed = isWellFormed
        self.store = KeychainItemStore(keychain: keychain)
    }

    /// Migrates the item if there is something to migrate, and says what was done.
    public func migrate() -> KeychainMigrationClaim {
        var record = Record()
        do throws(KeychainMigrationFailure) {
            let outcome = try migrate(&record)
            return KeychainMigrationClaim(outcome: outcome, wrote: record.wrote, steps: record.steps)
        } catch {
            return KeychainMigrationClaim(outcome: .failed, wrote: record.wrote, failure: error, steps: record.steps)
        }
    }

    private func migrate(_ record: inout Record) throws(KeychainMigrationFailure) -> KeychainMigrationOutcome {
        if legacy.service == target.service, legacy.account == target.account {
            if legacy.accessGroup == target.accessGroup {
                return try changeAccessibility(&record)
            }
            if target.accessGroup == nil {
                throw KeychainMigrationFailure(step: .readTarget, cause: .ambiguousContracts)
            }
        }
        if let present = try read(target, as: .readTarget, &record) {
            try completeInterruptedMigration(to: present, &record)
            return .alreadyMigrated
        }
        guard let old = try read(legacy, as: .readLegacy, &record) else { return .nothingToMigrate }
        guard isWellFormed(old.data) else {
            throw KeychainMigrationFailure(step: .readLegacy, cause: .malformed)
        }
        KeychainMigrationPoint.afterRead.reached()
        let added = store.add(old.data, as: target)
        record.steps.append(KeychainStepRecord(step: .addTarget, status: added))
        switch added {
        case errSecSuccess: record.wrote = true
        case errSecDuplicateItem: break  // Someone else added it meanwhile: its content decides below.
        default: throw KeychainMigrationFailure(step: .addTarget, cause: .status(added))
        }
        KeychainMigrationPoint.afterAdd.reached()
        try proveCopy(of: old, &record)
        KeychainMigrationPoint.afterReadBack.reached()
        try delete(old, &record)
        KeychainMigrationPoint.afterDelete.reached()
        marker.set(schemaVersion)
        return .migrated
    }

    /// An earlier run may have been stopped between adding and deleting. Without a marker the old item is looked for,
    /// and deleted if its content is proved to be in the new one.
    private func completeInterruptedMigration(
        to present: StoredItem,
        _ record: inout Record
    ) throws(KeychainMigrationFailure) {
        guard !marker.reaches(schemaVersion) else { return }
        let read = store.readItem(legacy)
        record.steps.append(KeychainStepRecord(step: .readLegacy, status: read.status))
        switch read {
        case .failed:
            // The new item serves; whether an old one is left cannot be told now.
            return
        case .missing:
            break
        case .found(let old) where old.isSameItem(as: present):
            break
        case .found(let old):
            guard SHA256.digest(of: old.data) == SHA256.digest(of: present.data) else {
                throw KeychainMigrationFailure(step: .readLegacy, cause: .contentDiffers)
            }
            try delete(old, &record)
        }
        marker.set(schemaVersion)
    }

    private func changeAccessibility(
        _ record: inout Record
    ) throws(KeychainMigrationFailure) -> KeychainMigrationOutcome {
        guard let old = try read(target, as: .readTarget, &record) else { return .nothingToMigrate }
        if old.contract.accessible == target.accessible {
            if !marker.reaches(schemaVersion) { marker.set(schemaVersion) }
            return .alreadyMigrated
        }
        guard isWellFormed(old.data) else {
            throw KeychainMigrationFailure(step: .readTarget, cause: .malformed)
        }
        KeychainMigrationPoint.afterRead.reached()
        var exact = old.contract
        exact.accessible = target.accessible
        let updated = store.updateAccessibility(exact)
        record.steps.append(KeychainStepRecord(step: .updateAccessible, status: updated))
        guard updated == errSecSuccess else {
            throw KeychainMigrationFailure(step: .updateAccessible, cause: .status(updated))
        }
        record.wrote = true
        KeychainMigrationPoint.afterAdd.reached()
        try proveCopy(of: old, &record)
        KeychainMigrationPoint.afterReadBack.reached()
        marker.set(schemaVersion)
        return .migrated
    }

    /// Reads the new item and compares its content with the old item's, by digest.
    private func proveCopy(of old: StoredItem, _ record: inout Record) throws(KeychainMigrationFailure) {
        guard let copy = try read(target, as: .readBack, &record) else {
            throw KeychainMigrationFailure(step: .readBack, cause: .status(errSecItemNotFound))
        }
        guard SHA256.digest(of: copy.data) == SHA256.digest(of: old.data) else {
            throw KeychainMigrationFailure(step: .readBack, cause: .contentDiffers)
        }
    }

    private func read(
        _ contract: KeychainItemContract,
        as step: KeychainMigrationStep,
        _ record: inout Record
    ) throws(KeychainMigrationFailure) -> StoredItem? {
        let read = store.readItem(contract)
        record.steps.append(KeychainStepRecord(step: step, status: read.status))
        switch read {
        case .found(let item): return item
        case .missing: return nil
        case .failed(let status): throw KeychainMigrationFailure(step: step, cause: .status(status))
        }
    }

    /// Deletes exactly the item that was read: with the group that it was found in, so that an item of the same name in
    /// another group, such as the new one, is never hit.
    private func delete(_ old: StoredItem, _ record: inout Record) throws(KeychainMigrationFailure) {
        let deleted = store.delete(old.contract)
        record.steps.append(KeychainStepRecord(step: .deleteLegacy, status: deleted))
        switch deleted {
        case errSecSuccess: record.wrote = true
        case errSecItemNotFound: break  // It is gone, which is all that was wanted.
        default: throw KeychainMigrationFailure(step: .deleteLegacy, cause: .status(deleted))
        }
    }

    /// What a run has done so far.
    private struct Record {
        var steps: [KeychainStepRecord] = []
        var wrote = false
    }
}
