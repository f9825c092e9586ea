import BerthAgent
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// The journal after crashes and damage.
@Suite struct JournalTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/journal" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func assignment(_ attempt: String, _ epoch: UInt64) throws -> Assignment {
        let build = AssignedBuild(
            id: Digest(bytes: [UInt8](repeating: 1, count: 32)),
            description: BuildDescription(
                name: "app",
                bundleIdentifier: "com.example.product",
                version: "1.0",
                number: "1",
                platform: .linuxSimulated,
                minimumOS: nil,
                executable: "app"
            )
        )
        return Assignment(
            run: "r-1",
            attempt: attempt,
            epoch: epoch,
            nonce: TestAssignment.nonce,
            pins: Pins(
                path: [build.id],
                caseName: "update",
                caseDigest: build.id,
                os: TestAssignment.os,
                platform: .linuxSimulated
            ),
            caseDefinition: BuiltInCases.update,
            builds: [build],
            timeout: 1000
        )
    }

    private func written() throws -> [UInt8] {
        let journal = try Journal(path: path)
        let (first, second) = (AttemptReference(attempt: "a-1", epoch: 3), AttemptReference(attempt: "a-2", epoch: 4))
        try journal.append(.term(2))
        try journal.append(.assignment(try assignment("a-1", 3)))
        try journal.append(.process(ProcessIdentity(pid: 4711, start: "x")))
        try journal.append(.processEnded(4711))
        try journal.append(.result(first, .passed))
        try journal.append(.acknowledged(first, .recorded))
        try journal.append(.assignment(try assignment("a-2", 4)))
        try journal.append(.result(second, .failed))
        return try DurableFile.read(path, limit: 1 << 20)
    }

    @Test("what was journaled is there after a restart")
    func restart() throws {
        _ = try written()
        let state = try Journal(path: path).state
        #expect(state.highestEpoch == 4)
        #expect(state.highestTerm == 2)
        #expect(state.running == nil)
        #expect(state.processes.isEmpty)
        #expect(state.unacknowledged == [AttemptReference(attempt: "a-2", epoch: 4)])
    }

    @Test("what may wait is written together with the next record, and a crash before forgets just that")
    func withNext() throws {
        let journal = try Journal(path: path)
        try journal.append(.process(ProcessIdentity(pid: 4711, start: "x")))
        journal.remember(.processEnded(4711), withNext: true)
        #expect(journal.state.processes.isEmpty && !journal.isStuck)
        #expect(try Journal(path: path).state.processes.map(\.pid) == [4711])
        try journal.append(.process(ProcessIdentity(pid: 4712, start: "y")))
        #expect(try Journal(path: path).state.processes.map(\.pid) == [4712])
        journal.remember(.processEnded(4712), withNext: true)
        try journal.catchUp()
        #expect(try Journal(path: path).state == journal.state)
    }

    @Test("a last line that a crash cut off is dropped, and the journal goes on after it")
    func cutLine() throws {
        let bytes = try written()
        let last = try #require(bytes.dropLast().lastIndex(of: 10))
        for length in [last + 2, last + 40, bytes.count - 1] {
            try DurableFile.replace(path, with: bytes[..<length])
            let journal = try Journal(path: path)
            #expect(journal.state.running?.attempt == "a-2")
            try journal.append(.result(AttemptReference(attempt: "a-2", epoch: 4), .errored))
            #expect(try Journal(path: path).state.running == nil)
        }
    }

    @Test("any other damage is a named error, and the file is kept")
    func damage() throws {
        let bytes = try written()
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        func join(_ lines: [String]) -> [UInt8] { Array(lines.joined(separator: "\n").utf8) }
        var withoutThird = lines
        withoutThird.remove(at: 2)
        let damaged: [(String, [UInt8])] = [
            ("a changed digit", Array(text.replacingOccurrences(of: "\"epoch\":4", with: "\"epoch\":5").utf8)),
            ("a missing line", join(withoutThird)),
            ("a missing first line", join(Array(lines.dropFirst()))),
            ("a line of rubbish", join(lines.prefix(3) + ["rubbish"] + lines.dropFirst(3))),
            ("an empty line", join(lines.prefix(3) + [""] + lines.dropFirst(3))),
            ("zeros and a newline", bytes + [0, 0, 0, 10]),
        ]
        for (name, content) in damaged {
            try DurableFile.replace(path, with: content)
            let error = #expect(throws: JournalError.self, "\(name)") { try Journal(path: path) }
            #expect("\(error.map(String.init(describing:)) ?? "")".contains(path))
            #expect(try DurableFile.read(path, limit: 1 << 20) == content, "\(name)")
        }
    }

    @Test(
        "on a full disk an attempt that has begun is journaled to its end, none begins, and nothing written is lost",
        .enabled(if: SmallDisk.isPossible, "a disk of a few megabytes can only be mounted by root")
    )
    func fullDisk() throws {
        let disk = try SmallDisk(at: directory.path + "/disk", megabytes: 1)
        defer { disk.unmount() }
        let path = disk.path + "/journal"
        let journal = try Journal(path: path)
        let (first, second) = (AttemptReference(attempt: "a-1", epoch: 1), AttemptReference(attempt: "a-2", epoch: 2))
        try journal.append(.assignment(try assignment("a-1", 1)))
        try disk.fill()
        for pid in 1...100 as ClosedRange<Int32> {
            try journal.append(.process(ProcessIdentity(pid: pid, start: "x")))
            journal.remember(.processEnded(pid))
        }
        try journal.append(.result(first, .errored))
        let refused = #expect(throws: JournalError.self) {
            try journal.append(.assignment(try assignment("a-2", 2)))
        }
        let words = "\(refused.map(String.init(describing:)) ?? "")"
        #expect(words.contains(path) && words.contains("No space left on device") && words.contains("make room"))
        #expect(refused.map { DiskTrouble($0).code } == .diskFull)
        #expect(journal.state.running == nil && journal.state.highestEpoch == 1)

        // More than anybody is granted: the append that no longer fits leaves nothing of itself behind.
        var written: [Int32] = []
        let overflow = #expect(throws: JournalError.self) {
            for pid in 1...10_000 as ClosedRange<Int32> {
                try journal.append(.process(ProcessIdentity(pid: pid, start: "x")))
                written.append(pid)
            }
        }
        #expect(overflow != nil && journal.state.processes.map(\.pid) == written)
        #expect(try DurableFile.read(path, limit: 1 << 20).last == 10)
        #expect(try Journal(path: path).state == journal.state)
        // What has happened counts, although it is not on disk yet: a record longer than any rest of a page goes first.
        let long = AttemptReference(attempt: String(repeating: "a", count: 1 << 13), epoch: 1)
        journal.remember(.result(long, .errored))
        journal.remember(.acknowledged(long, .recorded))
        journal.remember(.term(7))
        for pid in written { journal.remember(.processEnded(pid)) }
        #expect(journal.state.highestTerm == 7 && journal.state.processes.isEmpty)
        #expect(try Journal(path: path).state.highestTerm == 0)
        #expect(throws: SystemError.self) { try journal.catchUp() }

        disk.makeRoom()
        try journal.catchUp()
        try journal.append(.assignment(try assignment("a-2", 2)))
        let state = try Journal(path: path).state
        #expect(state == journal.state && state.highestTerm == 7 && state.processes.isEmpty)
        #expect(state.running?.attempt == second.attempt && state.unacknowledged == [first])
    }

    @Test("a long journal is compacted and says the same")
    func compaction() throws {
        let journal = try Journal(path: path)
        try journal.append(.term(9))
        var number: UInt64 = 0
        var largest: Int64 = 0
        while number < 900 {
            number += 1
            let reference = AttemptReference(attempt: "a-\(number)", epoch: number)
            try journal.append(.assignment(try assignment(reference.attempt, number)))
            try journal.append(.result(reference, .passed))
            if number > 1 { try journal.append(.acknowledged(reference, .recorded)) }
            var status = stat()
            stat(path, &status)
            largest = max(largest, Int64(status.st_size))
        }
        #expect(largest < 2 << 20)
        let state = try Journal(path: path).state
        #expect(state == journal.state)
        #expect(state.highestEpoch == 900 && state.highestTerm == 9)
        #expect(state.unacknowledged == [AttemptReference(attempt: "a-1", epoch: 1)])
    }
}
