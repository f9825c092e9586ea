import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization
import Testing

/// What the program's own files lose with a power cut: each test kills a process that has written, and takes back what it
/// had not synchronised.
struct LossySeamTests {
    private static func content(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func anAppendThatWasSynchronisedStaysAndOneThatWasNotGoes() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try LossyDisk.begin(notes: path + "/notes")
            let journal = try AppendFile(path: path + "/journal")
            try journal.append(Array("one ".utf8))
            AppendFile.skipsSync.store(true, ordering: .relaxed)
            try journal.append(Array("two".utf8))
            kill(getpid(), SIGKILL)
        }
        #expect(Self.content(folder.path + "/journal") == "one two", "the death of a process alone takes nothing")
        try LossyDisk.takeBack(notes: folder.path + "/notes")
        #expect(Self.content(folder.path + "/journal") == "one ")
    }

    @Test func aReplacedFileStays() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try LossyDisk.begin(notes: path + "/notes")
            try DurableFile.replace(path + "/file", with: Array("old".utf8))
            try DurableFile.replace(path + "/file", with: Array("new".utf8))
            kill(getpid(), SIGKILL)
        }
        try LossyDisk.takeBack(notes: folder.path + "/notes")
        #expect(Self.content(folder.path + "/file") == "new")
    }

    @Test func aFolderThatIsNotToLastGoesWithItsFiles() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try LossyDisk.begin(notes: path + "/notes")
            try DurableFile.makeFolder(path + "/lasting", lasting: true)
            try DurableFile.makeFolder(path + "/fleeting")
            for name in ["lasting", "fleeting"] {
                try DurableFile.replace(path + "/\(name)/file", with: Array("bytes".utf8))
            }
            // Its folder has been synchronised for the other since, but not for what came after that.
            try DurableFile.makeFolder(path + "/late")
            kill(getpid(), SIGKILL)
        }
        try LossyDisk.takeBack(notes: folder.path + "/notes")
        #expect(Self.content(folder.path + "/lasting/file") == "bytes")
        #expect(access(folder.path + "/fleeting", F_OK) != 0)
        #expect(access(folder.path + "/late", F_OK) != 0)
    }

    @Test func whatIsWrittenWhileTheDiskSynchronisesIsNotTakenForSynchronised() async throws {
        let folder = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let name = path + "/file"
            let file = try FileDescriptor(path: name, flags: O_WRONLY | O_CREAT)
            try LossyDisk.begin(notes: path + "/notes")
            func write(_ text: String, at offset: Int64) throws {
                try LossyDisk.current?.willWrite(name, length: offset, offset: offset)
                try file.write(Array(text.utf8))
            }
            try write("before ", at: 0)
            try LossyDisk.synchronizing(file: name) {
                try file.synchronize()
                try write("meanwhile", at: 7)
            }
            kill(getpid(), SIGKILL)
        }
        #expect(Self.content(folder.path + "/file") == "before meanwhile")
        try LossyDisk.takeBack(notes: folder.path + "/notes")
        #expect(Self.content(folder.path + "/file") == "before ")
    }
}
