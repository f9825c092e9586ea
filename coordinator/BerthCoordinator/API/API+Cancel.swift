import BerthCore
import BerthStore
import BerthSystem

extension API {
    /// Cancels a run: at once while it waits, else as soon as its agent has ended it. One that has its end keeps it.
    func cancelRun(_ id: String, caller: String) async throws -> HTTPResponse {
        let open = try await store.cancelRun(id, actor: caller, now: Timestamp.now().milliseconds)
        await farm.cancel(open, reason: "\(caller) cancelled the run")
        farm.changes.publish(.init(.run, id))
        return Self.json(await withProgress([try await store.run(id: id)])[0])
    }

    /// The same for all runs of a batch.
    func cancelBatch(_ id: String, caller: String) async throws -> HTTPResponse {
        let open = try await store.cancelBatch(id, actor: caller, now: Timestamp.now().milliseconds)
        await farm.cancel(open, reason: "\(caller) cancelled the batch")
        farm.changes.publish(.init(.batch, id))
        return Self.json(await withProgress(try await store.batch(id: id)))
    }
}
