import BerthSystem
import BerthTestSupport
import Foundation
import Testing

@testable import BerthAgent

/// E2: what cannot be looked at, or written down, is not taken for released.
@Suite(.timeLimit(.minutes(1)))
struct PreservedDevicesTests {
    private let entry = PreservedDevices.Entry(udid: "u-1", attempt: "a-1", run: "r-1", since: 1, cause: nil)

    @Test("A set that cannot be looked at keeps its devices; one without the device forgets it")
    func unreadableSet() throws {
        let directory = try TemporaryDirectory()
        let devices = try PreservedDevices(folder: directory.path + "/preserved")
        devices.add(entry)
        let set = directory.path + "/set"
        try Data().write(to: URL(fileURLWithPath: set))
        devices.prune(set: set)
        #expect(devices.holds("u-1") && devices.all().map(\.udid) == ["u-1"])
        unlink(set)
        try DurableFile.makeFolder(set)
        devices.prune(set: set)
        #expect(!devices.holds("u-1"))
    }

    @Test("A list of kept devices that cannot be read is an error, not an empty list")
    func unreadableList() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path + "/preserved"
        let devices = try PreservedDevices(folder: folder)
        try devices.requireReadable()
        rmdir(folder)
        try Data().write(to: URL(fileURLWithPath: folder))
        #expect(throws: SystemError.self) { try devices.requireReadable() }
    }

    @Test("What a crash left of a note that was being written is removed, and no note is")
    func leftovers() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path + "/preserved"
        try PreservedDevices(folder: folder).add(entry)
        try Data().write(to: URL(fileURLWithPath: folder + "/u-2.json.0123456789ab.partial"))
        #expect(try PreservedDevices(folder: folder).all() == [entry])
        #expect(Folders.names(in: folder) == ["u-1.json"])
    }

    @Test(
        "A device that is kept on a full disk is kept by the next agent too",
        .enabled(if: SmallDisk.isPossible, "disks can only be mounted by root")
    )
    func fullDisk() async throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path + "/state", megabytes: 1)
        defer { disk.unmount() }
        let devices = try PreservedDevices(folder: disk.path + "/preserved")
        let full = try FullDisk(disk)
        devices.add(entry)
        let next = try PreservedDevices(folder: disk.path + "/preserved")
        #expect(next.holds("u-1") && next.all().map(\.udid) == ["u-1"])
        await full.free()
        // With room again the note is written whole.
        try DurableFile.makeFolder(directory.path + "/set/u-1")
        devices.prune(set: directory.path + "/set")
        #expect(try PreservedDevices(folder: disk.path + "/preserved").all() == [entry])
    }
}
