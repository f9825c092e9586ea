import Foundation
import Testing

@testable import KeychainMigration

@Suite struct DigestTests {
    @Test("SHA-256 of the vectors of FIPS 180-4, and of lengths around the block border")
    func sha256() {
        let vectors: [(String, String)] = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000),
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
            (
                String(repeating: "x", count: 55),
                "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"
            ),
            (
                String(repeating: "x", count: 64),
                "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"
            ),
        ]
        for (message, digest) in vectors {
            #expect(Hexadecimal.encode(SHA256.digest(of: message.utf8)) == digest)
        }
    }

    @Test("HMAC-SHA-256 of the vectors of RFC 4231: short, ordinary and overlong keys")
    func hmac() {
        func code(_ key: [UInt8], _ message: [UInt8]) -> String {
            Hexadecimal.encode(HMAC256.code(key: key, message: message))
        }
        #expect(
            code([UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        )
        #expect(
            code(Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        #expect(
            code([UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50))
                == "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        )
        #expect(
            code(
                [UInt8](repeating: 0xaa, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
            ) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        )
    }

    @Test("The canary of a nonce, as another program computes it from the page of the formats")
    func canary() throws {
        let nonce = try #require(ProbeNonce("5f1c0a9be2d34477a8c0d1e2f3a4b5c6"))
        #expect(String(decoding: nonce.canary, as: UTF8.self) == ##"~UWEmPjpsjQ3ihoCn~okD>F'MZ5=53\\"##)
        #expect(nonce.suffix == "-5f1c0a9be2d34477")
        #expect(ProbeNonce.random() != ProbeNonce.random())
    }
}
