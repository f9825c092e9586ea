import BerthAgent
import BerthArchive
import BerthCore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// Results between an attempt's end and the coordinator's word, over crashes and damage.
@Suite struct PendingResultsTests {
    private let directory: TemporaryDirectory
    private var folder: String { directory.path + "/results" }
    private var path: String { folder + "/log" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func reference(_ number: Int) -> AttemptReference { AttemptReference(attempt: "a-\(number)", epoch: 1) }

    private func blobs(_ number: Int, size: Int = 10_000) -> [Digest: [UInt8]] {
        let bytes = [UInt8](repeating: UInt8(number), count: size)
        return [Digest.sha256(of: bytes): bytes]
    }

    /// Keeps three results, and gives where each of them ends in the file.
    private func keepThree() throws -> [Int] {
        let results = try PendingResults(folder: folder)
        return try (1...3).map { number in
            try results.keep(KeptResult(report: TestReport.make("a-\(number)"), blobs: blobs(number)))
            return try DurableFile.read(path, limit: 1 << 20).count
        }
    }

    private func overwrite(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test("what was kept is found again as it was, the later of two reports of an attempt")
    func reopened() throws {
        let results = try PendingResults(folder: folder)
        try results.keep(KeptResult(report: TestReport.make("a-1", endedAt: 1), blobs: [:]))
        try results.keep(KeptResult(report: TestReport.make("a-2"), blobs: blobs(2)))
        try results.keep(KeptResult(report: TestReport.make("a-1", endedAt: 2), blobs: blobs(1)))
        for found in [results, try PendingResults(folder: folder)] {
            #expect(
                try found.result(reference(1))
                    == KeptResult(report: TestReport.make("a-1", endedAt: 2), blobs: blobs(1))
            )
            #expect(try found.result(reference(2))?.blobs == blobs(2))
            // An earlier farm's attempt of the same name is another one.
            #expect(try found.result(AttemptReference(attempt: "a-1", epoch: 2)) == nil)
        }
        results.forget(reference(2))
        #expect(try results.result(reference(2)) == nil && results.result(reference(1)) != nil)
    }

    @Test("a crash in the middle of a write takes that result and no other, wherever it cut")
    func torn() throws {
        let ends = try keepThree()
        let whole = try DurableFile.read(path, limit: 1 << 20)
        let cuts = [ends[1] + 1, ends[1] + 200, (ends[1] + ends[2]) / 2, ends[2] - 1]
        for cut in cuts {
            // A file system may have noted the length before it wrote the bytes.
            for rest in [0, ends[2] - cut] {
                try overwrite(whole[..<cut] + [UInt8](repeating: 0, count: rest))
                let results = try PendingResults(folder: folder)
                #expect(try results.result(reference(3)) == nil, "cut at \(cut)")
                #expect(try results.result(reference(1))?.blobs == blobs(1))
                #expect(try results.result(reference(2))?.blobs == blobs(2))
                try results.keep(KeptResult(report: TestReport.make("a-4"), blobs: blobs(4)))
                let again = try PendingResults(folder: folder)
                #expect(try again.result(reference(4))?.blobs == blobs(4) && again.result(reference(2)) != nil)
            }
        }
        try overwrite([UInt8](repeating: 0, count: 300))
        #expect(try PendingResults(folder: folder).result(reference(1)) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["log"])
    }

    @Test("damage costs the results that it met; the others are sent, and the file is set aside for a look")
    func damaged() throws {
        let ends = try keepThree()
        let whole = try DurableFile.read(path, limit: 1 << 20)
        let size = try #require(whole[ends[0]...].firstRange(of: Array("\"size\":10000".utf8))).upperBound - 5
        // In the second result's evidence, in its first line, and in a length, which becomes longer than the file.
        for (place, lost) in [(ends[1] - 5, [2]), (ends[0] + 3, [2, 3]), (size, [2, 3])] {
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            var bytes = whole
            bytes[place] = bytes[place] == UInt8(ascii: "1") ? UInt8(ascii: "9") : bytes[place] ^ 0xff
            try overwrite(bytes)
            let results = try PendingResults(folder: folder)
            for number in 1...3 {
                #expect(
                    try (results.result(reference(number)) == nil) == lost.contains(number),
                    "\(number) at \(place)"
                )
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            let aside = try #require(names.last)
            #expect(names.count == 2 && names[0] == "log" && aside.hasPrefix("log.damaged-"))
            #expect(try DurableFile.read(folder + "/" + aside, limit: 1 << 20) == bytes)
            #expect(try PendingResults(folder: folder).result(reference(1)) != nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
    }

    @Test("the file does not grow without end, and what is still wanted stays")
    func tidied() throws {
        let results = try PendingResults(folder: folder)
        try results.keep(KeptResult(report: TestReport.make("a-1"), blobs: blobs(1)))
        var longest = 0
        for number in 2...40 {
            try results.keep(KeptResult(report: TestReport.make("a-\(number)"), blobs: blobs(number, size: 1 << 20)))
            results.forget(reference(number))
            if results.isLong { try results.tidy() }
            longest = max(longest, try DurableFile.read(path, limit: 1 << 28).count)
        }
        #expect(longest < 12 << 20)
        #expect(try results.result(reference(1))?.blobs == blobs(1))
        #expect(try PendingResults(folder: folder).result(reference(1))?.blobs == blobs(1))
        results.forget(reference(1))
        for number in 2...8 {
            try results.keep(KeptResult(report: TestReport.make("a-\(number)"), blobs: blobs(number, size: 1 << 20)))
            results.forget(reference(number))
        }
        try results.tidy()
        #expect(try DurableFile.read(path, limit: 1 << 28).isEmpty)
        try results.keep(KeptResult(report: TestReport.make("a-9"), blobs: blobs(9)))
        #expect(try PendingResults(folder: folder).result(reference(9))?.blobs == blobs(9))
    }
}
