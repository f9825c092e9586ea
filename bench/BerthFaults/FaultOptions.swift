/// What a storm is to be like.
package struct FaultOptions: Sendable {
    /// Folder with the built programs.
    package var products: String
    /// Folder of the sources, for `ops/bundle-app`.
    package var sources: String
    package var seconds = 60
    package var seed: UInt64 = 1
    package var hosts = 3
    package var slotsPerHost = 6
    package var leaseSeconds = 3
    /// Milliseconds from fault to fault, on the average.
    package var pace = 300
    /// Environment variables that break the agents on purpose.
    package var hooks: [String: String] = [:]
    /// Environment variables that break the coordinator on purpose.
    package var coordinatorHooks: [String: String] = [:]
    /// Which faults come.
    package var mix = FaultSchedule.Mix.all
    /// The storm ends when so many runs are submitted, if not by its time.
    package var runs: Int?
    /// Of a thousand answers to submissions, how many are lost after the submission was done.
    package var lostReplies = 300
    /// Of a thousand replies between the coordinator and agents, how many are lost after what they answer was done; needs
    /// `meddlesWithMessages`.
    package var lostMessages = 0
    /// How many coordinators share the farm; more than one need `usesPostgres`.
    package var coordinators = 1
    /// Messages come late, twice, and old ones again.
    package var meddlesWithMessages = true
    /// How long every app runs, in seconds; nil: milliseconds, now and then seconds.
    package var dwellSeconds: Int?
    /// After the storm, measures how fast single faults are noticed.
    package var measuresCalm = false
    /// Keeps the store in a PostgreSQL server, which is killed too.
    package var usesPostgres = false
    /// Where the folder with logs stays after a violation; nil: it is removed in any case.
    package var keepAt: String?
    /// Told what happens, line by line.
    package var tell: @Sendable (String) -> Void = { _ in }

    package init(products: String, sources: String) {
        self.products = products
        self.sources = sources
    }

    /// Clocks jump by multiples of so many milliseconds: further than a storm can last, so that the check can tell.
    var clockStep: Int64 { Int64(max(2, seconds / 1200)) * 3_600_000 }

    var slots: Int { hosts * slotsPerHost }
}
