import BerthSystem

extension ClientKey {
    /// Reads a key file on a thread of its own.
    /// - Throws: as `load(path:)`
    static func loadOnThread(path: String) async throws(SSHError) -> ClientKey {
        do {
            return try await Threads.run(name: "read-key") { try load(path: path) }
        } catch let error as SSHError {
            throw error
        } catch {
            throw .keyUnreadable(path: path, reason: "\(error)")
        }
    }
}
