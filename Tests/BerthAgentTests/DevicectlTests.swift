import BerthAgent
import BerthCore
import Foundation
import Testing

@testable import BerthSystem

/// What devicectl's files mean: recorded ones of Apple's tool, and those of the stand-in.
@Suite(.timeLimit(.minutes(1))) struct DevicectlTests {
    private func sample(_ name: String) throws -> [UInt8] {
        try DurableFile.read("\(Products.repository)/Tests/BerthAgentTests/Fixtures/devicectl-\(name)", limit: 1 << 20)
    }

    private func result(_ status: Int32, _ errors: String = "") -> CommandResult {
        CommandResult(
            termination: .exited(status),
            output: [],
            errorOutput: Array(errors.utf8),
            timedOut: false,
            truncated: false,
            outputEnded: true,
            duration: .zero
        )
    }

    private func judge<Value: Decodable & Sendable>(
        _ name: String,
        as type: Value.Type,
        status: Int32 = 0
    ) throws -> Value {
        try DevicectlTool.judge("verb", result(status), report: try sample(name), as: type, limit: .seconds(60))
    }

    @Test("recorded successes are read")
    func successes() throws {
        let installed = try judge("install-app.json", as: DevicectlResults.Installation.self)
        #expect(installed.installedApplications.first?.bundleID == "com.example.verifier")
        let launched = try judge("process-launch.json", as: DevicectlResults.Launch.self)
        #expect(launched.process.processIdentifier == 4951)
        let lock = try judge("info-lockState.json", as: DevicectlResults.LockState.self)
        #expect(lock.passcodeRequired == false && lock.unlockedSinceBoot == true)
        let apps = try judge("info-apps.json", as: DevicectlResults.Applications.self)
        #expect(apps.apps.first?.containerAccessible == true)
        let files = try judge("info-files.json", as: DevicectlResults.Files.self)
        #expect(files.files.first?.path == "Documents/readings.json")
        #expect(files.files.first?.metadata?.size == 4724)
        _ = try judge("copy-from.json", as: DevicectlResults.Nothing.self)
    }

    @Test("a list with an unpaired phone is read although its processor's number fits no signed 64 bits")
    func unpairedPhone() throws {
        let list = try judge("list-devices.unpaired.json", as: DevicectlResults.Devices.self)
        let phone = try #require(list.phone("00000000-0000000000000000"))
        #expect(!phone.isPaired)
        #expect(phone.os == OSPin(version: "27.0", build: "24A5380h"))
        #expect(phone.model == "iPhone13,2")
        #expect(list.phone("11111111-0000000000000000") == nil)
    }

    @Test("a simulator that newer tools list is no phone, even under the asked UDID")
    func simulatorEntry() throws {
        let entry = String(decoding: try sample("list-devices.simulator-entry.json"), as: UTF8.self)
        let report = #"{"info": {"outcome": "success"}, "result": {"devices": [{"identifier": 7}, \#(entry)]}}"#
        let list = try DevicectlTool.judge(
            "list devices",
            result(0),
            report: Array(report.utf8),
            as: DevicectlResults.Devices.self,
            limit: .seconds(60)
        )
        // The first entry, which cannot be read, does not hide the second one.
        #expect(list.devices.count == 1)
        #expect(list.phone("E77F08C9-D5F4-40FC-BE31-460B1C8646C7") == nil)
    }

    @Test(
        "recorded failures are told apart by the errors underneath",
        arguments: [
            ("process-launch.not-installed.json", DeviceToolError.Kind.appUnknown),
            ("process-terminate.no-such-pid.json", .nothingThere),
            ("install-app.failed-xcode15.json", .fileRefused),
        ]
    )
    func failures(name: String, kind: DeviceToolError.Kind) throws {
        let error = try #require(throws: DeviceToolError.self) {
            try judge(name, as: DevicectlResults.Nothing.self, status: 1)
        }
        #expect(error.kind == kind, "\(error)")
        #expect(error.description.hasPrefix("devicectl "))
    }

    @Test("without a report the words on standard error decide")
    func texts() throws {
        let text = String(decoding: try sample("stderr.txt"), as: UTF8.self)
        let kinds = text.components(separatedBy: "# exit 1").dropFirst().map { part in
            DevicectlFailure.inText(String(part.drop { $0 != "\n" }))?.kind
        }
        #expect(kinds == [.deviceAbsent, .fileRefused, .locked, .signingRefused, .tunnelInterrupted, .notReady])
    }

    @Test(
        "codes of the installer tell a refused build from a refused signature",
        arguments: [
            ("MIInstallerErrorDomain", 13, "No code signature found", DeviceToolError.Kind.buildRefused),
            ("MIInstallerErrorDomain", 13, "ApplicationVerificationFailed 0xe8008015", .signingRefused),
            ("com.apple.dt.MobileDeviceErrorDomain", -402_620_395, "", .signingRefused),
            ("com.apple.dt.MobileDeviceErrorDomain", 3_892_314_338, "", .locked),
        ]
    )
    func installer(domain: String, code: Int, text: String, kind: DeviceToolError.Kind) throws {
        let json = """
            {"domain": "com.apple.dt.CoreDeviceError", "code": 3002, "userInfo": {
              "NSLocalizedDescription": {"string": "Failed to install the app on the device."}, "Strange": {"data": 1},
              "NSUnderlyingError": {"error": {"domain": "\(domain)", "code": \(code), "userInfo": {
                "NSLocalizedDescription": {"string": "\(text)"}}}}}}
            """
        let failure = try JSONDecoder().decode(DevicectlFailure.self, from: Data(json.utf8))
        #expect(failure.kind == kind, "\(failure.words)")
    }

    @Test("the stand-in's failures are the causes that they stand for")
    func standInFailures() async throws {
        try await PhoneHost.run { phone in
            var limits = DevicectlTool.Limits()
            limits.information = .seconds(3)
            limits.pause = .milliseconds(10)
            let tool = try phone.tool(limits)
            func kind(_ behaviour: String, _ body: () async throws -> Void) async throws -> DeviceToolError.Kind {
                try phone.behave(behaviour)
                let error = try await #require(throws: DeviceToolError.self) { try await body() }
                try phone.behave(nil)
                return error.kind
            }
            let app = phone.host.bundles + "/nothing.app"
            let launch = AppLaunch(
                bundle: "com.example.product",
                arguments: ["-UITestSeedLegacyKeychain"],
                environment: [:],
                standardOutput: "/dev/null",
                standardError: "/dev/null"
            )
            #expect(try await kind("{}") { _ = try await tool.launch(launch) } == .appUnknown)
            #expect(try await kind("{}") { _ = try await tool.install(app) } == .fileRefused)
            #expect(try await kind("{}") { try await tool.terminate(999_999, kill: false) } == .nothingThere)
            #expect(try await kind(#"{"locked": true}"#) { _ = try await tool.launch(launch) } == .locked)
            #expect(try await kind(#"{"absent": true}"#) { _ = try await tool.phone() } == .deviceAbsent)
            #expect(try await kind(#"{"unpaired": true}"#) { _ = try await tool.processes() } == .notPaired)
            #expect(try await kind(#"{"developerModeOff": true}"#) { _ = try await tool.install(app) } == .notReady)
            let old = try await TestBuild.sample("legacy", version: "1.0", in: phone.host.bundles)
            #expect(old.assigned.description.bundleIdentifier == launch.bundle)
            let bundle = phone.host.bundles + "/legacy.app"
            let refusal = #"{"refuseInstall": {"domain": "MIInstallerErrorDomain", "code": 35, "text": "no"}}"#
            #expect(try await kind(refusal) { _ = try await tool.install(bundle) } == .buildRefused)
            for file in ["missing", "empty", "partial"] {
                let behaviour = #"{"json": {"device info processes": "\#(file)"}}"#
                #expect(try await kind(behaviour) { _ = try await tool.processes() } == .unreadable, "\(file)")
            }
            #expect(
                try await kind(#"{"hang": ["device info processes"]}"#) { _ = try await tool.processes() } == .timedOut
            )
        }
    }

    @Test("a transient error of the tunnel is tried once more; a slow phone is waited for; arguments reach the app")
    func transient() async throws {
        try await PhoneHost.run { phone in
            var limits = DevicectlTool.Limits()
            limits.pause = .milliseconds(10)
            let recorder = CallRecorder()
            let tool = try phone.tool(limits, recorder: recorder)
            _ = try await TestBuild.sample("legacy", version: "1.0", in: phone.host.bundles)
            _ = try await tool.install(phone.host.bundles + "/legacy.app")
            try phone.behave(#"{"tunnelErrorOnce": ["device process launch"], "delay": 0.5}"#)
            let launch = AppLaunch(
                bundle: "com.example.product",
                arguments: ["-UITestSeedLegacyKeychain", "-BerthNonce", TestAssignment.nonce],
                environment: ["EXTRA": "reaches the app"],
                standardOutput: "/dev/null",
                standardError: "/dev/null"
            )
            let process = try await tool.launch(launch)
            #expect(recorder.all.filter { $0.verb == "device-process-launch" }.count == 2)
            #expect(try await tool.processes().contains { $0.processIdentifier == process.processIdentifier })
            let environment = try DurableFile.read("/proc/\(process.processIdentifier)/environ", limit: 1 << 20)
            #expect(environment.split(separator: 0).contains(Array("EXTRA=reaches the app".utf8)[...]))
            let arguments = try DurableFile.read("/proc/\(process.processIdentifier)/cmdline", limit: 1 << 20)
            #expect(String(decoding: arguments, as: UTF8.self).contains("-UITestSeedLegacyKeychain"))
        }
    }
}
