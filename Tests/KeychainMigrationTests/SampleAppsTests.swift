#if os(Linux)
    import Foundation
    import Testing

    /// The sample apps on a simulated device, through its command surface.
    @Suite(.timeLimit(.minutes(5))) struct SampleAppsTests {
        private let nonce = ["-BerthNonce", ProbeFixture.nonce]
        private let seed = "-UITestSeedLegacyKeychain"
        private let verify = "-UITestVerifyKeychainV2"

        @Test("G1, G2, M3, E1: the correct build reads what the legacy build wrote, once, and cleans up exactly")
        func correct() async throws {
            try await SimulatedPhone.run { phone in
                try await phone.install("legacy", version: "1.0", build: "10")
                let seeded = try await phone.probe(1, "seed", [seed, "-BerthEpoch", "7"] + nonce)
                #expect(seeded.result == "succeeded")
                #expect(seeded.build.number == "10")
                #expect(seeded.item("legacy")?.contract.accessible == "ak")
                #expect(seeded.item("legacy")?.contract.accessGroup == "EXAMPLE42.com.example.product")

                try await phone.install("correct", version: "2.0", build: "20")
                let verified = try await phone.probe(2, "verify", [verify] + nonce)
                #expect(verified.result == "succeeded")
                #expect(verified.build.version == "2.0")
                #expect(verified.build.bundleIdentifier == SimulatedPhone.app)
                #expect(verified.epochMarker == 7)
                #expect(verified.item("target")?.content == "matches")
                #expect(verified.item("target")?.contract.accessible == "ck")
                #expect(verified.item("legacy")?.read == "missing")
                #expect(verified.migration?.outcome == "migrated")
                #expect(verified.migration?.markerAfter == 2)

                let again = try await phone.probe(3, "verify", [verify] + nonce)
                #expect(again.result == "succeeded")
                #expect(again.migration?.outcome == "already-migrated")
                #expect(again.migration?.wrote == false)
                #expect(again.migration?.markerBefore == 2)
                #expect(again.item("target")?.reference != nil)
                #expect(again.item("target")?.reference == verified.item("target")?.reference)
                #expect(again.item("target")?.modified == verified.item("target")?.modified)

                let cleaned = try await phone.probe(4, "cleanup", ["-BerthCleanUp"] + nonce)
                #expect(cleaned.result == "succeeded")
                #expect(cleaned.census?.ownSuffix == 1)
                #expect(cleaned.censusAfter?.ownSuffix == 0)
            }
        }

        @Test(
            "C5: a build that does not migrate leaves the target missing, whatever it claims",
            arguments: [("renamed-query", "21", "nothing-to-migrate", nil), ("claims-success", "22", "migrated", 2)]
        )
        func faulty(name: String, build: String, claim: String, marker: Int?) async throws {
            try await SimulatedPhone.run { phone in
                try await phone.install("legacy", version: "1.0", build: "10")
                #expect(try await phone.probe(1, "seed", [seed]).result == "succeeded")
                try await phone.install(name, version: "2.0", build: build)
                // As the shell script of a CI does it: no nonce is given, the probe keeps its own.
                let status = try await phone.probe(2, "verify", [verify])
                #expect(status.migration?.outcome == claim)
                #expect(status.migration?.markerAfter == marker)
                #expect(status.result == "failed")
                #expect(status.item("target")?.read == "missing")
                #expect(status.item("target")?.status == -25300)
                #expect(status.item("legacy")?.read == "found")
                #expect(status.item("legacy")?.content == "matches")
            }
        }

        @Test("M1: every new build passes a fresh install", arguments: ["correct", "renamed-query", "claims-success"])
        func freshInstall(name: String) async throws {
            try await SimulatedPhone.run { phone in
                try await phone.install(name, version: "2.0", build: "20")
                let status = try await phone.probe(1, "verify", [verify, "-BerthCreate"] + nonce)
                #expect(status.result == "succeeded")
                #expect(status.migration?.outcome == "created")
                #expect(status.item("target")?.content == "matches")
                #expect(status.item("legacy")?.read == "missing")
            }
        }

        @Test("B3: without the probe's arguments an app is an app: it says its state and leaves no status file")
        func plainLaunch() async throws {
            try await SimulatedPhone.run { phone in
                try await phone.install("correct", version: "2.0", build: "20")
                #expect(try await phone.launchPlainly() == "signed out\n")
                let berth = try await phone.container().appendingPathComponent("Documents/berth")
                #expect(!FileManager.default.fileExists(atPath: berth.path))
            }
        }
    }
#endif
