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
    /// Half of the faults are long partitions.
    package var favoursPartitions = false
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

    var slots: Int { hosts * slotsPerHost }
}
