import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// What a disk that forgets takes back: the judgement of the fault harness rests on it.
struct LossyDiskTests {
    /// Notes that a process could have left, as the process writes them.
    private static func notes(_ events: [UnsyncedChanges.Event], at path: String) throws {
        let lines = try events.map { try JSONEncoder().encode($0) + [10] }
        try Data(lines.joined()).write(to: URL(fileURLWithPath: path))
    }

    private static func content(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func whatWasSynchronisedStaysAndTheRestIsTakenBackInReverse() throws {
        let folder = try TemporaryDirectory()
        let (journal, notes) = (folder.path + "/journal", folder.path + "/notes")
        try "one,two,XXX,four".write(toFile: journal, atomically: false, encoding: .utf8)
        try Self.notes(
            [
                .changed(.written(path: journal, length: 0, offset: 0, bytes: Data())), .fileSynced(journal),
                .changed(.written(path: journal, length: 8, offset: 8, bytes: Data())),
                .changed(.written(path: journal, length: 12, offset: 4, bytes: Data("old".utf8))),
            ],
            at: notes
        )
        LossyDisk.takeBack(notes: notes)
        #expect(Self.content(journal) == "one,old,")
        #expect(Self.content(notes) == "", "taken back once")
    }

    @Test func aRenameLastsWithItsFolderAlone() throws {
        let folder = try TemporaryDirectory()
        let (file, notes) = (folder.path + "/file", folder.path + "/notes")
        try "new".write(toFile: file, atomically: false, encoding: .utf8)
        let rename = UnsyncedChanges.Event.changed(
            .named(from: file + ".partial", to: file, replaced: Data("old".utf8))
        )
        try Self.notes([rename, .folderSynced(folder.path)], at: notes)
        LossyDisk.takeBack(notes: notes)
        #expect(Self.content(file) == "new")
        try Self.notes([rename], at: notes)
        LossyDisk.takeBack(notes: notes)
        #expect(Self.content(file) == "old" && Self.content(file + ".partial") == "new")
    }

    @Test func bytesThatWereNotSynchronisedAreLostUnderANameThatLasts() throws {
        let folder = try TemporaryDirectory()
        let (file, notes) = (folder.path + "/file", folder.path + "/notes")
        try "new".write(toFile: file, atomically: false, encoding: .utf8)
        try Self.notes(
            [
                .changed(.written(path: file + ".partial", length: 0, offset: 0, bytes: Data())),
                .changed(.named(from: file + ".partial", to: file, replaced: nil)), .folderSynced(folder.path),
            ],
            at: notes
        )
        LossyDisk.takeBack(notes: notes)
        #expect(Self.content(file) == "")
    }

    @Test func whatIsMadeGoesWithAllThatIsInIt() throws {
        let folder = try TemporaryDirectory()
        let (made, notes) = (folder.path + "/made", folder.path + "/notes")
        try DurableFile.makeFolder(made)
        try DurableFile.replace(made + "/file", with: Array("bytes".utf8))
        try Self.notes([.changed(.made(path: made)), .folderSynced(made)], at: notes)
        LossyDisk.takeBack(notes: notes)
        #expect(access(made, F_OK) != 0)
    }

    @Test func partOfItMayReachTheDiskAllTheSame() throws {
        let folder = try TemporaryDirectory()
        let (file, notes) = (folder.path + "/file", folder.path + "/notes")
        try "abcdef".write(toFile: file, atomically: false, encoding: .utf8)
        try Self.notes(
            [0, 2, 4].map { .changed(.written(path: file, length: $0, offset: $0, bytes: Data())) },
            at: notes
        )
        LossyDisk.takeBack(notes: notes) { $0 - 1 }
        #expect(Self.content(file) == "abcd")
    }
}
