import BerthCore

/// What an attempt's evidence says about its items and entitlements, as far as it could be read.
struct AttemptEvidence: Sendable {
    /// A launch's status file.
    struct Launch: Sendable {
        let path: String
        let status: StatusFile
    }

    /// In order of the launches.
    let launches: [Launch]
    /// Absent for attempts of earlier agents.
    let entitlements: EntitlementReport?
    /// Unified diffs by their paths.
    let diffs: [String: String]
    /// What could not be read, in words.
    let problems: [String]

    init(launches: [Launch], entitlements: EntitlementReport?, diffs: [String: String] = [:], problems: [String] = []) {
        self.launches = launches.sorted { $0.status.launch < $1.status.launch }
        self.entitlements = entitlements
        self.diffs = diffs
        self.problems = problems
    }

    /// Reads what is needed of a report's evidence from the archive.
    static func read(_ report: AttemptReport, _ client: APIClient) async -> AttemptEvidence {
        var launches: [Launch] = []
        var entitlements: EntitlementReport?
        var diffs: [String: String] = [:]
        var problems: [String] = []
        for file in report.files.sorted(by: { $0.path < $1.path }) {
            let limit: Int
            switch file.path {
            case EntitlementReport.path: limit = EntitlementReport.sizeLimit
            case let path where path.hasPrefix("status/"): limit = StatusFile.sizeLimit
            case let path where path.hasPrefix("entitlements/") && path.hasSuffix(".diff"): limit = 1 << 20
            default: continue
            }
            guard file.size <= Int64(limit) else {
                problems.append("\(file.path) is too long to be what its name says")
                continue
            }
            do {
                let bytes = try await client.evidence(file.digest, of: report.evidence)
                if file.path == EntitlementReport.path {
                    entitlements = try EntitlementReport.parse(bytes)
                } else if file.path.hasSuffix(".diff") {
                    diffs[file.path] = String(decoding: bytes, as: UTF8.self)
                } else {
                    launches.append(Launch(path: file.path, status: try StatusFile.parse(bytes, name: file.path)))
                }
            } catch {
                problems.append("\(file.path): \(error)")
            }
        }
        return AttemptEvidence(launches: launches, entitlements: entitlements, diffs: diffs, problems: problems)
    }

    /// The old item as the old build wrote and read it back.
    var seeded: (path: String, item: StatusFile.Item)? {
        for launch in launches where launch.status.phase == .seed {
            if let item = launch.status.item(.legacy) ?? launch.status.items.first { return (launch.path, item) }
        }
        return nil
    }

    /// The launch in which the new build was looked at last.
    var verification: Launch? { launches.last { $0.status.phase == .verify } }

    /// From the first to the last build of the path.
    var comparison: EntitlementReport.Comparison? { entitlements?.comparisons.first }

    /// The access groups of a build, if its entitlements are known.
    func accessGroups(_ role: BuildRole) -> [String]? {
        entitlements?.builds.first { $0.role == role && $0.signing.entitlements != nil }?.signing.accessGroups
    }
}
