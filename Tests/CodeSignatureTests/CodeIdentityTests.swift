import CodeSignature
import Foundation
import Testing

@Suite("What an executable says about itself")
struct CodeIdentityTests {
    private static let demo = PropertyListValue.dictionary([
        "application-identifier": .string("ABCDE12345.com.example.demo"),
        "keychain-access-groups": .array([.string("ABCDE12345.com.example.demo")]),
    ])

    @Test(
        "A simulator build keeps its entitlements in a section, thin or universal",
        arguments: [
            ("demo-arm64-iossim", ["arm64"], MachOSlice.Target.iOSSimulator),
            ("demo-x86_64-iossim", ["x86_64"], .iOSSimulator),
            ("demo-fat-iossim", ["arm64", "x86_64"], .iOSSimulator), ("demo-arm64-ios", ["arm64"], .iOS),
        ]
    )
    func sections(file: String, architectures: [String], target: MachOSlice.Target) throws {
        let source = ByteSource(try Fixture.bytes(file))
        let slices = try MachOFile(source).slices
        #expect(slices.map(\.architecture).sorted() == architectures && slices.allSatisfy { $0.target == target })
        let identity = try CodeIdentity(executable: source)
        #expect(identity.entitlements == Self.demo && identity.source == .section && identity.notes.isEmpty)
        #expect(identity.identifier?.hasPrefix("demo-") == true && identity.teamIdentifier == nil)
        #expect(identity.accessGroups == ["ABCDE12345.com.example.demo"])
    }

    @Test("A device build has them in its signature, beside identifier and team; forms that differ are noted")
    func signature() throws {
        let xml = try Fixture.bytes("entitlements.xml")
        let der = try Fixture.bytes("entitlements.der")
        let whole = Fixture.signed(identifier: "com.example.demo", team: "ABCDE12345", xml: xml, der: der)
        let identity = try CodeIdentity(executable: ByteSource(whole))
        #expect(identity.entitlements == Self.demo && identity.source == .signature && identity.notes.isEmpty)
        #expect(identity.identifier == "com.example.demo" && identity.teamIdentifier == "ABCDE12345")
        let alone = Fixture.signed(identifier: "d", team: "T", xml: nil, der: der)
        #expect(try CodeIdentity(executable: ByteSource(alone)).entitlements == Self.demo)
        let other = String(decoding: xml, as: UTF8.self).replacingOccurrences(of: "ABCDE12345", with: "OTHER67890")
        let differing = Fixture.signed(identifier: "d", team: "T", xml: Array(other.utf8), der: der)
        let notes = try CodeIdentity(executable: ByteSource(differing)).notes
        #expect(
            notes == [
                "the signature's XML and DER entitlements differ: application-identifier, keychain-access-groups"
            ]
        )
    }

    private struct Vector: Decodable {
        let name: String
        let hex: String
    }

    @Test("DER entitlements are read as Apple's tools write them")
    func der() throws {
        let vectors = try JSONDecoder().decode([Vector].self, from: Data(try Fixture.bytes("entitlements-der.json")))
        var values: [String: PropertyListValue] = [:]
        for vector in vectors {
            let digits = Array(vector.hex)
            let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
            values[vector.name] = try DERPropertyList.read(ByteWindow(bytes: bytes, origin: 0))
        }
        #expect(values["empty dict"] == .dictionary([:]))
        #expect(values["key = \"\""] == .dictionary(["key": .string("")]))
        #expect(values["key = []"] == .dictionary(["key": .array([])]))
        let flags = try #require(values["five booleans, long-form lengths"])
        #expect(flags["com.apple.security.cs.allow-jit"] == .boolean(true))
        #expect(values["application-identifier + keychain-access-groups of the demo executables"] == Self.demo)
        let numbers: [UInt8] = [0x70, 0x12, 2, 1, 1, 0xb0, 0x0d, 0x30, 5, 0x0c, 1, 0x61, 2, 0, 0x30, 4, 0x0c, 0, 1, 1]
        #expect(throws: CodeSignatureError.self) { try DERPropertyList.read(ByteWindow(bytes: numbers, origin: 0)) }
    }

    @Test("What codesign prints on one line is the same value; unusual spellings are read, tricks are refused")
    func xml() throws {
        func read(_ text: String) throws -> PropertyListValue {
            try XMLPropertyList.read(ByteWindow(bytes: Array(text.utf8), origin: 100))
        }
        let printed = #"""
            <?xml version="1.0" encoding="UTF-8"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "https://www.apple.com/DTDs/PropertyList-1.0.dtd"><plist version="1.0"><dict><key>application-identifier</key><string>ABCDE12345.com.example.demo</string><key>get-task-allow</key><true/></dict></plist>
            """#
        #expect(try read(printed)["get-task-allow"] == .boolean(true))
        let odd =
            "<!-- before --><plist><dict><key>a&amp;b</key><string><![CDATA[<x>]]>&#65;</string>"
            + "<key>n</key><integer>-0x10</integer><key>d</key><data>\n AQI=\n</data><key>e</key><array/></dict></plist>"
        let value = try read(odd)
        #expect(value["a&b"] == .string("<x>A") && value["n"] == .integer(-16) && value["d"] == .data([1, 2]))
        #expect(try read(value.xml) == value)
        for (text, problem) in [
            ("<plist><dict><key>a</key></dict></plist>", "</dict> closes nothing"),
            ("<!DOCTYPE plist [<!ENTITY x \"y\">]><plist><dict/></plist>", "entities"),
            ("<plist><dict><key>a</key><string>x</string><key>a</key><string>y</string></dict></plist>", "twice"),
            ("<plist>" + String(repeating: "<array>", count: 5000), "deeper"), ("<plist><dict>", "ends in the middle"),
            ("{ a = b; }", "a text where an element"),
        ] {
            let error = #expect(throws: CodeSignatureError.self) { try read(text) }
            #expect(error.map { "\($0)" }?.contains(problem) == true, "\(String(describing: error))")
            guard case .malformed(let offset, _) = error else { continue }
            #expect(offset >= 100 && offset <= 100 + UInt64(text.utf8.count))
        }
    }

    @Test("What is no Mach-O says so, and a reader asks for nothing outside of the file")
    func others() throws {
        #expect(throws: CodeSignatureError.notMachO) { try MachOFile(ByteSource(Array("#!/bin/sh\n".utf8))) }
        #expect(throws: CodeSignatureError.notMachO) { try MachOFile(ByteSource([])) }
        let java: [UInt8] = [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 1]
        let error = #expect(throws: CodeSignatureError.self) { try MachOFile(ByteSource(java)) }
        #expect(error == .malformed(offset: 4, problem: "52 slices are no number of slices"))
        let cut = Array(try Fixture.bytes("demo-arm64-iossim").prefix(200))
        let short = #expect(throws: CodeSignatureError.self) { try MachOFile(ByteSource(cut)) }
        #expect(short.map { "\($0)" }?.contains("the load commands") == true)
    }
}
