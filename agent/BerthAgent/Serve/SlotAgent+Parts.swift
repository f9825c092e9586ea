import BerthArchive
import BerthCore
import BerthSystem

extension SlotAgent.Parts {
    /// The parts of a slot's agent around its device's driver, in the slot's state folder. Blocks.
    /// - Parameters:
    ///   - places: where the slot lies.
    ///   - journal: the slot's memory.
    ///   - lock: held for the device.
    ///   - driver: speaks to the device.
    ///   - cache: builds of this host.
    ///   - statusTimeout: how long a launch may take to write its status file.
    ///   - hooks: what the fault harness breaks.
    /// - Throws: `SystemError`, `FormatError` for a damaged key
    package init(
        places: SlotPlaces,
        journal: Journal,
        lock: FileLock,
        driver: any DeviceDriver,
        cache: BlobDirectory,
        statusTimeout: Duration,
        hooks: HarnessHooks
    ) throws {
        let builds = KnownBuilds(cache)
        let state = StateFolder(path: places.state, journal: journal)
        self.init(
            slot: places.slot,
            journal: journal,
            results: try PendingResults(folder: places.state + "/results"),
            state: state,
            execution: AttemptExecution.Settings(
                driver: driver,
                builds: builds,
                key: try AgentKey.load(state: places.state),
                bundles: LaidOutBuilds(folder: places.state + "/bundles", builds: builds),
                state: state,
                workFolder: Self.workFolder(places.state),
                statusTimeout: statusTimeout
            ),
            features: driver.features,
            places: places,
            hooks: hooks,
            manualWork: ManualWork(lock: lock, slot: places.slot, state: places.state)
        )
    }

    /// What attempts need while they run, in a slot's state folder.
    static func workFolder(_ state: String) -> String { state + "/work" }
}
