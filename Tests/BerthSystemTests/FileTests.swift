import BerthSystem
import Foundation
import Testing

struct FileTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "berth-test-" + Hex.encode(RandomBytes.make(8))
        try DurableFile.makeFolder(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test func aHeldLockNamesItsHolderAndOutlivesNobody() throws {
        try withFolder { folder in
            let first = try FileLock.acquire(path: "\(folder)/lock", holder: "agent of sim-1, process 42")
            do {
                _ = try FileLock.acquire(path: "\(folder)/lock", holder: "another")
                Issue.record("two holders")
            } catch let error as FileLockError {
                #expect("\(error)".contains("agent of sim-1, process 42"))
            }
            first.release()
            _ = try FileLock.acquire(path: "\(folder)/lock", holder: "another")
        }
    }

    @Test func replacingIsWholeOrNothing() throws {
        try withFolder { folder in
            let path = "\(folder)/state"
            try DurableFile.replace(path, with: Array("one".utf8))
            #expect(throws: SystemError.self) { try DurableFile.replace("\(folder)/absent/state", with: [1]) }
            try DurableFile.replace(path, with: Array("two".utf8))
            #expect(try DurableFile.read(path, limit: 10) == Array("two".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["state"])
            #expect(throws: SystemError.self) { try DurableFile.read(path, limit: 2) }
            #expect(throws: SystemError.self) { try DurableFile.read(folder, limit: 2) }
        }
    }

    @Test func socketsWorkAtPathsOfAnyLength() throws {
        try withFolder { folder in
            let deep = folder + String(repeating: "/a-rather-long-folder-name", count: 6)
            try DurableFile.makeFolder(deep)
            let listener = try UnixListener(path: "\(deep)/agent.sock")
            let client = try SocketConnection.connect(unixPath: listener.path)
            let server = try listener.accept()
            #expect(server.peerProcess == ProcessInfo.processInfo.processIdentifier)
            try client.write(Array("hello".utf8))
            #expect(try server.readExactly(5) == Array("hello".utf8))
            client.shutdown()
            #expect(try server.readExactly(1) == nil)
            #expect(throws: SystemError.self) { try server.write([UInt8](repeating: 0, count: 1 << 20)) }
            var status = stat()
            #expect(lstat(listener.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            listener.shutdown()
            #expect(throws: SystemError.self) { try SocketConnection.connect(unixPath: "\(deep)/agent.sock") }
        }
    }

    @Test func digestsAgreeWithTheirStandards() {
        #expect(
            Hex.encode(SHA256.digest(of: Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        // RFC 4231, test case 2
        #expect(
            Hex.encode(HMAC256.code(key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        #expect(Hex.decode("00ff10") == [0, 255, 16])
        #expect(Hex.decode("0") == nil && Hex.decode("zz") == nil)
    }

    @Test func signaturesAgreeWithTheirStandard() throws {
        // RFC 8032, section 7.1, test 2
        let secret = try #require(Hex.decode("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
        let key = try SigningKey(privateBytes: secret)
        #expect(Hex.encode(key.publicBytes) == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        let signature = try key.sign([0x72])
        #expect(
            Hex.encode(signature)
                == "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        )
        #expect(SigningKey.isValid(signature, of: [0x72], publicBytes: key.publicBytes))
        #expect(!SigningKey.isValid(signature, of: [0x73], publicBytes: key.publicBytes))
        #expect(!SigningKey.isValid([], of: [0x72], publicBytes: key.publicBytes))
        #expect(throws: SigningKey.Failure.malformedKey) { try SigningKey(privateBytes: [1, 2, 3]) }
    }
}
