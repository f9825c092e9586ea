/// What devicectl says of a phone in lists and details.
struct PhoneDescription {
    private let phone: Phone
    private let behaviour: PhoneBehaviour
    private let runtime: Runtime

    init(_ phone: Phone, _ behaviour: PhoneBehaviour) throws {
        self.phone = phone
        self.behaviour = behaviour
        runtime = try phone.runtime()
    }

    var json: [String: Any] {
        let isPaired = behaviour.unpaired != true
        let isUsable = isPaired && behaviour.developerModeOff != true && behaviour.noDeveloperImage != true
        return [
            "capabilities": [[String: String]](),
            "connectionProperties": [
                "pairingState": isPaired ? "paired" : "unpaired", "transportType": "wired",
                "tunnelState": isPaired ? "connected" : "disconnected", "potentialHostnames": [String](),
            ],
            "deviceProperties": [
                "bootState": "booted", "ddiServicesAvailable": isUsable, "name": phone.record.name,
                "developerModeStatus": behaviour.developerModeOff == true ? "disabled" : "enabled",
                "osVersionNumber": behaviour.system ?? runtime.version, "osBuildUpdate": runtime.build,
            ],
            "hardwareProperties": [
                "deviceType": "iPhone", "marketingName": DeviceType.linuxPhone.name, "platform": "iOS",
                "productType": "Linux1,1", "reality": "stand-in", "udid": phone.record.udid,
            ],
            "identifier": phone.record.identifier,
            "visibilityClass": "default",
        ]
    }
}
