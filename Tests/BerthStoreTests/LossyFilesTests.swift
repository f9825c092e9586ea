import BerthSystem
import BerthTestSupport
import Foundation
import SQLiteDatabase
import Testing

/// What SQLite's files lose with a power cut: each test kills a process that has committed, and takes back what it had not
/// synchronised.
struct LossyFilesTests {
    /// The values in the database that a dead process left.
    private static func values(_ folder: String) throws -> [String] {
        let connection = try DatabaseConnection(path: folder + "/store")
        return try connection.rows("SELECT value FROM item ORDER BY value").map { try $0.text(0) }
    }

    @Test func aCommitThatWaitsForTheDiskStays() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try LossyDisk.begin(notes: path + "/notes")
            try LossyFiles.begin(skipsSync: false)
            let connection = try DatabaseConnection(path: path + "/store")
            try connection.executeScript("CREATE TABLE item (value TEXT); INSERT INTO item VALUES ('kept')")
            kill(getpid(), SIGKILL)
        }
        try LossyDisk.takeBack(notes: folder.path + "/notes")
        #expect(try Self.values(folder.path) == ["kept"])
    }

    @Test func aCommitThatDoesNotWaitForTheDiskGoes() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try LossyDisk.begin(notes: path + "/notes")
            try LossyFiles.begin(skipsSync: false)
            let durable = try DatabaseConnection(path: path + "/store")
            try durable.executeScript("CREATE TABLE item (value TEXT); INSERT INTO item VALUES ('kept')")
            var options = DatabaseConnection.Options()
            options.durable = false
            let hasty = try DatabaseConnection(path: path + "/store", options: options)
            try hasty.executeScript("INSERT INTO item VALUES ('lost')")
            kill(getpid(), SIGKILL)
        }
        #expect(try Self.copyOfValues(folder.path) == ["kept", "lost"], "the death of a process alone takes nothing")
        try LossyDisk.takeBack(notes: folder.path + "/notes")
        #expect(try Self.values(folder.path) == ["kept"])
    }

    @Test func aBrokenLayerSynchronisesNothing() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            do {
                let whole = try DatabaseConnection(path: path + "/store")
                try whole.executeScript("CREATE TABLE item (value TEXT); INSERT INTO item VALUES ('before')")
            }
            try LossyDisk.begin(notes: path + "/notes")
            try LossyFiles.begin(skipsSync: true)
            let connection = try DatabaseConnection(path: path + "/store")
            try connection.executeScript("INSERT INTO item VALUES ('lost')")
            kill(getpid(), SIGKILL)
        }
        try LossyDisk.takeBack(notes: folder.path + "/notes")
        #expect(try Self.values(folder.path) == ["before"])
    }

    /// Looks at a copy: opening the database itself would change its files.
    private static func copyOfValues(_ folder: String) throws -> [String] {
        let copy = try TemporaryDirectory()
        for name in ["store", "store-wal"] {
            try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        return try values(copy.path)
    }
}
