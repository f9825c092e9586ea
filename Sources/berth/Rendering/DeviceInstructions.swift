import BerthCore

/// What a person has to type to look at a kept device.
enum DeviceInstructions {
    /// Where the device is, how to get there, what to type there, and how to let go of it.
    static func text(_ view: DeviceView, host: HostRecord?) -> String {
        let device = view.device
        var facts = [
            ("device", "\(device.udid), \(view.model), \(view.platform.rawValue)"),
            ("state", "\(device.stage.rawValue) since \(PlainText.time(device.since))"),
            (
                "after",
                "attempt \(device.attempt) of run \(device.run)\(device.caseName.map { ", case \($0)" } ?? ""): "
                    + "\(device.outcome?.rawValue ?? "unknown")\(device.cause.map { ", \($0.code)" } ?? "")"
            ),
            ("slot", "\(view.slot) on host \(view.host) (\(view.places.machine)), agent's user \(view.places.user)"),
            ("evidence", "berth run show \(device.run)"),
        ]
        if let since = view.offlineSince {
            facts.append(("caution", "not connected since \(PlainText.time(since)); this is what was known then"))
        }
        var text = PlainText.facts(facts)
        text += "\nTo get there, with the slot for yourself (the farm's own key opens no shell, your login is used):\n"
        text += line("berth slot shell \(view.slot)")
        if let host {
            text += "or, without holding the slot, as its agent's user:\n"
            text += line(RemoteShell.login(host, becoming: view.places.user))
        }
        return text + "\n" + looking(view) + "\nTo let go of it:\n" + line("berth device release \(device.udid)")
    }

    /// What to type on the device's host.
    static func looking(_ view: DeviceView) -> String {
        let places = view.places
        let bundle = view.device.bundle ?? "BUNDLE-ID"
        var text = "On \(PlainText.safe(places.machine)):\n"
        for (name, value) in (places.environment ?? [:]).sorted(by: { $0.key < $1.key }) where isPlain(name) {
            text += line("export \(name)=\(RemoteShell.quoted(value))")
        }
        guard let set = places.deviceSet else {
            let devicectl = "\(RemoteShell.quoted(places.xcrun)) devicectl device"
            let udid = RemoteShell.quoted(view.device.udid)
            text += line("\(devicectl) info apps --device \(udid)")
            text += line(
                "\(devicectl) info files --device \(udid) --domain-type appDataContainer --domain-identifier "
                    + RemoteShell.quoted(bundle)
            )
            return text
        }
        let simctl = "\(RemoteShell.quoted(places.xcrun)) simctl --set \(RemoteShell.quoted(set))"
        let udid = RemoteShell.quoted(view.device.udid)
        text += line("\(simctl) boot \(udid)")
        text += line("\(simctl) listapps \(udid)")
        text += line("\(simctl) get_app_container \(udid) \(RemoteShell.quoted(bundle)) data")
        text += line("\(simctl) shutdown \(udid)")
        return text
    }

    /// Whether a variable's name can be typed as it is.
    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func line(_ command: String) -> String { "  \(PlainText.safe(command))\n" }
}
