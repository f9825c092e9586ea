/// How a coordinator is run.
package struct CoordinatorConfiguration: Sendable {
    /// Folder of store, archive and token files.
    package var dataFolder: String
    /// Address to listen on.
    package var address: String
    /// 0: any free port.
    package var port: UInt16
    package var leases: LeasePolicy

    package init(dataFolder: String, address: String = "127.0.0.1", port: UInt16 = 8750, leases: LeasePolicy = .init())
    {
        self.dataFolder = dataFolder
        self.address = address
        self.port = port
        self.leases = leases
    }
}
