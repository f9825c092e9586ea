import BerthCore
import BerthHosts

/// How a coordinator is run.
package struct CoordinatorConfiguration: Sendable {
    /// Folder of store, archive and token files.
    package var dataFolder: String
    /// Address to listen on.
    package var address: String
    /// 0: any free port.
    package var port: UInt16
    /// Where the store is, as a connection string of PostgreSQL; absent: a file in the data folder.
    package var database: String?
    /// Folder of the archive, which coordinators on one database share; absent: in the data folder.
    package var archiveFolder: String?
    package var leases: LeasePolicy
    /// How many threads serve the SSH connections.
    package var sshThreads: Int
    /// What the dashboard's verdicts are judged by, beside the standard policy.
    package var policies: [GatePolicy]
    /// Whether hosts may be enrolled with a proxy command, which the coordinator's user runs.
    package var allowsProxyCommands = false

    package init(
        dataFolder: String,
        address: String = "127.0.0.1",
        port: UInt16 = 8750,
        leases: LeasePolicy = .init(),
        sshThreads: Int = SSHEventLoopGroup.defaultCount,
        policies: [GatePolicy] = []
    ) {
        self.dataFolder = dataFolder
        self.address = address
        self.port = port
        self.leases = leases
        self.sshThreads = sshThreads
        self.policies = policies
    }
}
