import BerthCore
import BerthSystem

extension TestFarm {
    /// Runs a body with a farm that is stopped afterwards, however the body ends.
    static func with(slots: Int, leaseSeconds: Int = 15, _ body: (TestFarm) async throws -> Void) async throws {
        let farm = try await TestFarm.start(slots: slots, leaseSeconds: leaseSeconds)
        do {
            try await body(farm)
        } catch {
            await farm.stop()
            throw error
        }
        await farm.stop()
    }

    /// Writes a file into the farm's folder.
    /// - Returns: its path.
    nonisolated func write(_ text: String, to name: String) throws -> String {
        try DurableFile.replace("\(root)/\(name)", with: Array(text.utf8))
        return "\(root)/\(name)"
    }
}
