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
                .changed(number: 1, .written(path: journal, length: 0, offset: 0, bytes: Data())),
                .fileSynced(journal, before: 2),
                .changed(number: 2, .written(path: journal, length: 8, offset: 8, bytes: Data())),
                .changed(number: 3, .written(path: journal, length: 12, offset: 4, bytes: Data("old".utf8))),
            ],
            at: notes
        )
        try LossyDisk.takeBack(notes: notes)
        #expect(Self.content(journal) == "one,old,")
        #expect(Self.content(notes) == "", "taken back once")
    }

    @Test func aRenameLastsWithItsFolderAlone() throws {
        let folder = try TemporaryDirectory()
        let (file, notes) = (folder.path + "/file", folder.path + "/notes")
        try "new".write(toFile: file, atomically: false, encoding: .utf8)
        let rename = UnsyncedChanges.Event.changed(
            number: 1,
            .named(from: file + ".partial", to: file, replaced: Data("old".utf8))
        )
        try Self.notes([rename, .folderSynced(folder.path, before: 2)], at: notes)
        try LossyDisk.takeBack(notes: notes)
        #expect(Self.content(file) == "new")
        try Self.notes([rename], at: notes)
        try LossyDisk.takeBack(notes: notes)
        #expect(Self.content(file) == "old" && Self.content(file + ".partial") == "new")
    }

    @Test func bytesThatWereNotSynchronisedAreLostUnderANameThatLasts() throws {
        let folder = try TemporaryDirectory()
        let (file, notes) = (folder.path + "/file", folder.path + "/notes")
        try "new".write(toFile: file, atomically: false, encoding: .utf8)
        try Self.notes(
            [
                .changed(number: 1, .written(path: file + ".partial", length: 0, offset: 0, bytes: Data())),
                .changed(number: 2, .named(from: file + ".partial", to: file, replaced: nil)),
                .folderSynced(folder.path, before: 3),
            ],
            at: notes
        )
        try LossyDisk.takeBack(notes: notes)
        #expect(Self.content(file) == "")
    }

    @Test func whatIsMadeGoesWithAllThatIsInIt() throws {
        let folder = try TemporaryDirectory()
        let (made, notes) = (folder.path + "/made", folder.path + "/notes")
        try DurableFile.makeFolder(made)
        try DurableFile.replace(made + "/file", with: Array("bytes".utf8))
        try Self.notes([.changed(number: 1, .made(path: made)), .folderSynced(made, before: 2)], at: notes)
        try LossyDisk.takeBack(notes: notes)
        #expect(access(made, F_OK) != 0)
    }

    @Test func partOfItMayReachTheDiskAllTheSame() throws {
        let folder = try TemporaryDirectory()
        let (file, notes) = (folder.path + "/file", folder.path + "/notes")
        try "abcdef".write(toFile: file, atomically: false, encoding: .utf8)
        try Self.notes(
            [0, 2, 4].map {
                .changed(number: UInt64($0), .written(path: file, length: $0, offset: $0, bytes: Data()))
            },
            at: notes
        )
        try LossyDisk.takeBack(notes: notes, cut: { $0 - 1 })
        #expect(Self.content(file) == "abcd")
    }

    @Test func whatIsWrittenDuringASynchronisationMayHaveMissedIt() {
        var changes = UnsyncedChanges()
        func write(_ number: UInt64) -> UnsyncedChanges.Event {
            .changed(number: number, .written(path: "/f", length: 0, offset: 0, bytes: Data()))
        }
        changes.apply(write(1))
        // The synchronisation begins here, with mark 2, and is noted when it has ended.
        changes.apply(write(2))
        changes.apply(.fileSynced("/f", before: 2))
        #expect(changes.all.map(\.number) == [2])
        changes.apply(.fileSynced("/f", before: 3))
        #expect(changes.all.isEmpty)
    }

    @Test func aFileThatGotALastingNameIsNoLongerMadeUnderItsFormerOne() {
        var changes = UnsyncedChanges()
        changes.apply(.changed(number: 1, .made(path: "/partial/f")))
        changes.apply(.changed(number: 2, .named(from: "/partial/f", to: "/blobs/f", replaced: nil)))
        changes.apply(.folderSynced("/blobs", before: 3))
        #expect(changes.all.isEmpty)
    }

    @Test func whatCannotBeTakenBackIsSaid() throws {
        let folder = try TemporaryDirectory()
        let (file, notes) = (folder.path + "/file", folder.path + "/notes")
        try "new".write(toFile: file, atomically: false, encoding: .utf8)
        // A folder where a file is to be restored; a file that has gone is no failure, and the rest is undone.
        try Self.notes(
            [
                .changed(number: 1, .written(path: file, length: 0, offset: 0, bytes: Data())),
                .changed(number: 2, .written(path: folder.path, length: 0, offset: 0, bytes: Data())),
                .changed(number: 3, .written(path: folder.path + "/gone", length: 0, offset: 0, bytes: Data())),
            ],
            at: notes
        )
        #expect {
            try LossyDisk.takeBack(notes: notes)
        } throws: { error in
            (error as? UnsyncedChanges.UndoFailure)?.problems.count == 1
        }
        #expect(Self.content(file) == "")
    }
}
