import Foundation

/// A status file, format 1, by which all is well.
struct StatusFile {
    let request: Request
    var nonce: String
    var launch: Int
    let marker: UInt64?
    var reason: String?

    init(_ request: Request, launch: Int, marker: UInt64?) {
        self.request = request
        self.launch = launch
        self.marker = marker
        nonce = request.nonce
    }

    var name: String { "\(launch)-\(request.phase).json" }

    var bytes: [UInt8] {
        get throws {
            let none: [String: Any] = [
                "ownSuffix": request.phase == "seed" || launch == 1 ? 0 : 1, "otherSuffixes": 0, "bystanders": 0,
                "bystandersDigest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ]
            var file: [String: Any] = [
                "format": 1, "phase": request.phase, "launch": launch, "nonce": nonce, "result": "succeeded",
                "processIdentifier": Int(getpid()), "steps": [[String: Any]](), "census": none,
                "build": ["bundleIdentifier": "com.example.product", "version": "1.0", "number": "1"],
                "items": [item("legacy"), item("target")],
            ]
            file["epoch"] = request.epoch
            file["epochMarker"] = marker
            file["reason"] = reason
            if request.phase == "cleanup" {
                file["censusAfter"] = none.merging(["ownSuffix": 0]) { _, new in new }
            }
            return Array(try JSONSerialization.data(withJSONObject: file, options: [.sortedKeys]))
        }
    }

    private func item(_ role: String) -> [String: Any] {
        [
            "role": role, "read": "found", "status": 0, "content": "matches",
            "contract": ["itemClass": "genp", "service": "service", "account": "account"],
        ]
    }
}
