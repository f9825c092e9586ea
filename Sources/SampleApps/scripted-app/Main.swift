import Foundation

/// An app that does what `behaviour.json` in its bundle says. It has no keychain items: its status files claim that all
/// is well, unless the behaviour says otherwise.
@main struct Main {
    static func main() {
        do {
            let behaviour = try Behaviour.ofThisBundle()
            let request = Request(CommandLine.arguments.dropFirst())
            if let text = behaviour.output { FileHandle.standardOutput.write(Data(text.utf8)) }
            let folder = try StatusFolder.ofThisApp()
            let status = StatusFile(request, launch: try folder.countLaunch(), marker: try folder.marker(request))
            try perform(behaviour.action(request.phase), status, folder, behaviour)
        } catch {
            FileHandle.standardError.write(Data("scripted-app: \(error)\n".utf8))
            exit(70)
        }
        while true { sleep(60) }
    }

    private static func perform(
        _ action: Behaviour.Action,
        _ status: StatusFile,
        _ folder: StatusFolder,
        _ behaviour: Behaviour
    ) throws {
        var status = status
        status.reason = behaviour.reason
        switch action {
        case .report: try folder.write(try status.bytes, as: status.name)
        case .exit: exit(3)
        case .crash: abort()
        case .hang: return
        case .malformed: try folder.write(Array("{\"format\": 1,".utf8), as: status.name)
        case .foreign:
            status.nonce = String(repeating: "f", count: 32)
            try folder.write(try status.bytes, as: status.name)
        case .huge: try folder.write([UInt8](repeating: UInt8(ascii: " "), count: 1 << 20), as: status.name)
        case .misnumbered:
            status.launch += 5
            try folder.write(try status.bytes, as: status.name)
        case .link: try folder.link(status.name, to: "/etc/passwd")
        case .flood:
            let block = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
            for _ in 0..<64 { FileHandle.standardOutput.write(block) }
        }
    }
}
