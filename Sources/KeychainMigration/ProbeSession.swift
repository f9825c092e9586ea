import Foundation
import Security

/// One launch of the probe: carries out its phase and fills the status file.
struct ProbeSession {
    let configuration: KeychainProbeConfiguration
    let environment: ProbeEnvironment
    let request: ProbeRequest
    let nonce: ProbeNonce
    var status: StatusFile

    var store: KeychainItemStore { KeychainItemStore(keychain: environment.keychain) }
    var legacy: KeychainItemContract { configuration.legacy.appending(suffix: nonce.suffix) }
    var target: KeychainItemContract? { configuration.target?.appending(suffix: nonce.suffix) }
    /// The form in which this build keeps the item.
    private var current: KeychainItemContract { target ?? legacy }
    private var expectedDigest: String {
        request.expectedDigest ?? SHA256.name(of: request.isMalformed ? nonce.malformedCanary : nonce.canary)
    }

    /// Carries out the phase. A failure of the keychain goes into the status file.
    ///
    /// - Throws: what keeps the data container from being written.
    mutating func run(in folder: ProbeFolder) throws {
        status.census = takeCensus("census")
        switch request.phase {
        case .seed:
            if let epoch = request.epoch { try folder.leave(epochMarker: epoch) }
            seed()
        case .verify:
            verify(in: folder)
        case .prepare:
            try prepare(in: folder)
        case .census:
            readItems()
            if status.census == nil { fail("the items that are there cannot be listed") }
        case .cleanup:
            cleanUp()
            deleteBystanders(in: folder)
        }
        if request.phase == .seed || request.phase == .verify { status.censusAfter = takeCensus("census-after") }
    }

    private mutating func seed() {
        guard let census = status.census else {
            return fail("the items that are there cannot be listed, so nothing was written")
        }
        guard census.ownSuffix == 0 else {
            return fail("items of this attempt are there already, so nothing was written")
        }
        let added = configuration.seed(current, request.isMalformed ? nonce.malformedCanary : nonce.canary)
        note("seed", added)
        readItems()
        if added != errSecSuccess {
            fail("the seed answered OSStatus \(added)")
        } else {
            expectCurrentItem()
        }
    }

    private mutating func verify(in folder: ProbeFolder) {
        let before = environment.marker.version
        var claim = migrate(in: folder)
        if let claim {
            for record in claim.steps {
                note("migrate-\(record.step.rawValue)", record.status)
            }
            note("migrate", claim.failure?.status ?? errSecSuccess)
        }
        if request.create, claim?.outcome != .failed {
            let created = configuration.create(current, nonce.canary)
            note("create", created)
            claim =
                created == errSecSuccess
                ? KeychainMigrationClaim(outcome: .created, wrote: true)
                : KeychainMigrationClaim(
                    outcome: .failed,
                    wrote: false,
                    failure: KeychainMigrationFailure(step: .addTarget, cause: .status(created))
                )
        }
        status.migration = claim.map { claim in
            StatusFile.Migration(
                outcome: claim.outcome.rawValue,
                wrote: claim.wrote,
                status: claim.failure?.status,
                reason: claim.failure?.description,
                markerBefore: before,
                markerAfter: environment.marker.version
            )
        }
        readItems()
        if let claim, claim.outcome == .failed {
            fail(claim.failure?.description ?? "the migration says that it failed, and not why")
        } else {
            expectCurrentItem()
        }
    }

    /// Runs the app's migration, which the probe ends with its process where the launch asks for it.
    private func migrate(in folder: ProbeFolder) -> KeychainMigrationClaim? {
        guard let target, let migrate = configuration.migrate else { return nil }
        guard let killAt = request.killAt else { return migrate(legacy, target) }
        let interruption = StatusFile.Interruption(launch: status.launch, point: killAt.rawValue)
        let die = environment.die
        return KeychainMigrationPoint.watching({ point in
            // Without the note the next launch could not tell this end from a crash.
            guard point == killAt, (try? folder.leave(interruption)) != nil else { return }
            die()
        }) { migrate(legacy, target) }
    }

    private mutating func cleanUp() {
        for (role, contract) in roles {
            note("delete-\(role.rawValue)", configuration.delete(contract))
        }
        readItems()
        status.censusAfter = takeCensus("census-after")
        let refused = status.steps.first { step in
            step.what.hasPrefix("delete-") && step.status != errSecSuccess && step.status != errSecItemNotFound
        }
        if let refused {
            fail("\(refused.what) answered OSStatus \(refused.status)")
        } else if let before = status.census, let after = status.censusAfter {
            if after.ownSuffix != 0 {
                fail("\(after.ownSuffix) of this attempt's items are left")
            } else if before.bystanders != after.bystanders || before.bystandersDigest != after.bystandersDigest {
                fail("bystanders changed while this attempt's items were deleted")
            }
        } else {
            fail("the items that are there cannot be listed, so nothing is proved about what is left")
        }
    }

    /// The forms that the build knows; the one that it writes comes first.
    private var roles: [(role: StatusFile.Item.Role, contract: KeychainItemContract)] {
        var roles: [(role: StatusFile.Item.Role, contract: KeychainItemContract)] = []
        if let target { roles.append((.target, target)) }
        roles.append((.legacy, legacy))
        return roles
    }

    mutating func takeCensus(_ what: String) -> StatusFile.Census? {
        let (answer, census) = CensusTaker(store: store, suffix: nonce.suffix).take()
        note(what, answer)
        return census
    }

    /// Reads every form by the probe's own query, whatever the app said.
    mutating func readItems() {
        for (role, contract) in roles {
            let read = store.readItem(contract)
            note("read-\(role.rawValue)", read.status)
            status.items.append(describe(read, role, contract))
        }
    }

    private func describe(
        _ read: StoredItemRead,
        _ role: StatusFile.Item.Role,
        _ queried: KeychainItemContract
    ) -> StatusFile.Item {
        var item = StatusFile.Item(
            role: role,
            read: .failed,
            status: read.status,
            content: .unread,
            contract: fields(of: queried)
        )
        switch read {
        case .found(let stored):
            item.read = .found
            item.content = SHA256.name(of: stored.data) == expectedDigest ? .matches : .differs
            item.contract = fields(of: stored.contract)
            item.created = stored.created?.milliseconds
            item.modified = stored.modified?.milliseconds
            item.reference = stored.persistentReference.map { SHA256.name(of: $0) }
        case .missing:
            item.read = .missing
        case .failed:
            break
        }
        return item
    }

    private func fields(of contract: KeychainItemContract) -> StatusFile.Contract {
        StatusFile.Contract(
            itemClass: contract.itemClass.rawValue,
            service: contract.service,
            account: contract.account,
            accessGroup: contract.accessGroup,
            accessible: contract.accessible.rawValue
        )
    }

    /// The purpose of seed and verify: the item is there in the form of this build, with the expected content.
    private mutating func expectCurrentItem() {
        guard let item = status.items.first else { return }
        switch (item.read, item.content) {
        case (.found, .matches):
            break
        case (.found, _):
            fail("the \(item.role.rawValue) item's content is not the expected one")
        case (.missing, _):
            fail("the \(item.role.rawValue) item is missing")
        case (.failed, _):
            fail("reading the \(item.role.rawValue) item answered OSStatus \(item.status)")
        }
    }

    mutating func note(_ what: String, _ answer: OSStatus) {
        status.steps.append(StatusFile.Step(what: what, status: answer))
    }

    mutating func fail(_ reason: String) {
        status.result = .failed
        status.reason = reason
    }
}
