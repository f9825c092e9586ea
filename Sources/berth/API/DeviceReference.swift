import BerthCore

/// Finds the kept device that a person means: by its UDID or a prefix that only it has, or by the attempt or run that it
/// was kept after.
enum DeviceReference {
    static let operand = CommandDescription.Operand(
        name: "DEVICE",
        help: "its UDID or a prefix that only it has, or the attempt or run that it is kept after"
    )

    /// The one device that a text names.
    /// - Throws: `CommandFailure` that says what there is
    static func resolve(_ text: String, among devices: [DeviceView]) throws -> DeviceView {
        let name = text.uppercased()
        let ways: [(String, (DeviceView) -> Bool)] = [
            ("", { $0.device.udid.uppercased() == name }),
            ("attempt", { $0.device.attempt == text }),
            ("run", { $0.device.run == text }),
            ("prefix", { !name.isEmpty && $0.device.udid.uppercased().hasPrefix(name) }),
        ]
        for (what, matches) in ways {
            var found = devices.filter(matches)
            // A slot that was given another name is listed under its old one too, as not connected.
            if Set(found.map { $0.device.udid.uppercased() }).count == 1, found.count > 1 {
                found = [found.first { $0.offlineSince == nil } ?? found[0]]
            }
            if found.count == 1 { return found[0] }
            guard found.count > 1 else { continue }
            throw CommandFailure(
                .badInput,
                "the \(what) \(text.debugDescription) stands for \(found.count) devices; say which: \(list(found))"
            )
        }
        throw CommandFailure(
            .badInput,
            "no kept device is called \(text.prefix(80).debugDescription), nor was one kept after such an attempt or run; "
                + (devices.isEmpty ? "none is kept" : "there are \(list(devices))")
        )
    }

    private static func list(_ devices: [DeviceView]) -> String {
        devices.map { PlainText.safe("\($0.device.udid) (\($0.device.attempt) of \($0.device.run) on \($0.slot))") }
            .joined(separator: ", ")
    }
}
