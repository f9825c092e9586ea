import BerthArchive
import BerthCore
import BerthStore
import BerthSystem

/// Turns a plan's names into pins, against what archive, cases and slots there are now, and finds all that is wrong.
struct PlanResolver {
    /// Something wrong, with the HTTP status that it has when it stands alone.
    struct Problem: Error {
        let status: Int
        let problem: PlanProblem

        init(_ place: String, _ status: Int, _ code: String, _ message: String) {
            self.status = status
            problem = PlanProblem(place: place, code: code, message: message)
        }
    }

    let store: Store
    let archive: CoordinatorArchive

    private(set) var problems: [Problem] = []
    private(set) var warnings: [String] = []
    private(set) var runs: [SubmittedRun] = []

    init(store: Store, archive: CoordinatorArchive) {
        self.store = store
        self.archive = archive
    }

    /// - Throws: `StoreError` when the store itself fails; what is wrong with the plan is in `problems`.
    mutating func resolve(_ plan: Plan) async throws {
        problems = plan.problems.map { Problem($0.place, 400, $0.code, $0.message) }
        var paths: [[BuildRecord]] = []
        for (index, references) in plan.paths.enumerated() {
            let builds = try await builds(references, place: "paths[\(index)]")
            if let builds { paths.append(builds) }
        }
        try await checkArchive(plan, paths)
        let cases = try await cases(plan.cases)
        guard problems.isEmpty else { return }
        for (index, path) in paths.enumerated() {
            check(cases.map(\.definition), path, place: "paths[\(index)]")
            for platform in platforms(plan, path, place: "paths[\(index)]") {
                let offers = try await store.offers(platform: platform, labels: plan.labels)
                let systems = systems(plan, platform, offers)
                for os in systems { queue(plan, path, cases, os, platform) }
                warnOfFeatures(cases.map(\.definition), systems, platform, offers)
            }
        }
    }

    private struct PinnedCase {
        let definition: CaseDefinition
        let digest: Digest
    }

    private mutating func cases(_ names: [String]) async throws -> [PinnedCase] {
        var cases: [PinnedCase] = []
        for (index, name) in names.enumerated() {
            do {
                let found = try await store.latestCase(named: name)
                cases.append(PinnedCase(definition: found.definition, digest: found.digest))
            } catch {
                guard error.code == "unknown-case" else { throw error }
                problems.append(Problem("cases[\(index)]", error.httpStatus, error.code, "\(error)"))
            }
        }
        return cases
    }

    private mutating func queue(
        _ plan: Plan,
        _ path: [BuildRecord],
        _ cases: [PinnedCase],
        _ os: OSPin,
        _ platform: Platform
    ) {
        for pinned in cases {
            let pins = Pins(
                path: path.map(\.id),
                caseName: pinned.definition.name,
                caseDigest: pinned.digest,
                os: os,
                platform: platform
            )
            runs.append(SubmittedRun(pins: pins, labels: plan.labels, repeats: plan.repeats))
        }
    }

    /// The builds of a path, or nil when they make none.
    private mutating func builds(_ references: [String], place: String) async throws -> [BuildRecord]? {
        var builds: [BuildRecord] = []
        for (index, reference) in references.enumerated() {
            switch await look(up: reference) {
            case .success(let build): builds.append(build)
            case .failure(let error):
                guard ["unknown-build", "ambiguous-build"].contains(error.code) else { throw error }
                problems.append(Problem("\(place)[\(index)]", error.httpStatus, error.code, "\(error)"))
            }
        }
        guard builds.count == references.count else { return nil }
        compare(builds, references, place: place)
        return builds
    }

    private func look(up reference: String) async -> Result<BuildRecord, StoreError> {
        do throws(StoreError) {
            return .success(try await store.build(matching: reference))
        } catch {
            return .failure(error)
        }
    }

    /// All builds of a path are different, one app, and newer from step to step.
    private mutating func compare(_ builds: [BuildRecord], _ references: [String], place: String) {
        guard let old = builds.first else { return }
        for (index, build) in builds.enumerated().dropFirst() {
            let (before, at) = (builds[index - 1], "\(place)[\(index)]")
            if let same = builds[..<index].first(where: { $0.id == build.id }) {
                let message =
                    "old and new build are the same: \(references[index]) is \(same.description.name) \(same.id)"
                problems.append(Problem(at, 422, "same-build", message))
            } else if build.description.bundleIdentifier != old.description.bundleIdentifier {
                let message =
                    "\(old.description.name) has the bundle ID \(old.description.bundleIdentifier), "
                    + "\(build.description.name) has \(build.description.bundleIdentifier): "
                    + "the new build would be installed beside the old one, not over it"
                problems.append(Problem(at, 422, "bundle-ids-differ", message))
            } else if let low = VersionNumber(before.description.number),
                let high = VersionNumber(build.description.number), low >= high
            {
                warn(
                    "\(before.description.name) has the build number \(before.description.number), which is not below "
                        + "\(build.description.number) of \(build.description.name) that is installed over it: "
                        + "are old and new exchanged?"
                )
            }
        }
    }

    /// A submission names what the archive has lost, before anything waits for it. Bytes are checked at delivery.
    private mutating func checkArchive(_ plan: Plan, _ paths: [[BuildRecord]]) async throws {
        var known: Set<Digest> = []
        for build in paths.joined() where known.insert(build.id).inserted {
            guard let fault = await archive.presenceFault(of: build.id) else { continue }
            let message = "build \(build.description.name) (\(build.id.short)) is not whole in the archive: \(fault)"
            problems.append(Problem("", 409, "archive-damaged", message))
        }
    }

    /// Every build of the path must have its part in every case, and every part of a case its build.
    private mutating func check(_ cases: [CaseDefinition], _ path: [BuildRecord], place: String) {
        for definition in cases {
            let roles = definition.roles
            let fits = path.count == 2 ? !roles.contains(.transitional) : roles.count == path.count
            if !fits {
                let message =
                    "the path has \(path.count) builds and case \(definition.name) installs \(roles.count): "
                    + "what it proves would not be about this path"
                problems.append(Problem(place, 422, "path-does-not-fit-case", message))
            }
        }
    }

    /// A case that no slot can carry out now may wait for one, but whoever submits it should know.
    private mutating func warnOfFeatures(
        _ cases: [CaseDefinition],
        _ systems: [OSPin],
        _ platform: Platform,
        _ offers: [SlotOffer]
    ) {
        for os in systems {
            let features = offers.filter { $0.os == os }.map { Set($0.features) }
            for definition in cases {
                let needed = Set(definition.features)
                if features.contains(where: needed.isSubset) { continue }
                warn(
                    "no slot of platform \(platform.rawValue) with system \(os) offers what case \(definition.name) "
                        + "needs (\(definition.features.joined(separator: ", "))): its runs wait until one joins"
                )
            }
        }
    }

    private mutating func platforms(_ plan: Plan, _ path: [BuildRecord], place: String) -> [Platform] {
        guard let own = path.first?.description.platform else { return [] }
        if let other = path.firstIndex(where: { $0.description.platform != own }) {
            let message =
                "\(path[0].description.name) is made for \(own.rawValue), \(path[other].description.name) for "
                + "\(path[other].description.platform.rawValue): no device takes both"
            problems.append(Problem("\(place)[\(other)]", 422, "wrong-platform", message))
            return []
        }
        for (index, platform) in plan.platforms.enumerated() where !own.canRun(on: platform) {
            let message =
                "build \(path[0].description.name) is made for \(own.rawValue) and cannot run on \(platform.rawValue)"
            problems.append(Problem("platforms[\(index)]", 422, "wrong-platform", message))
        }
        for (index, kind) in plan.kinds.enumerated() where own.kind != kind {
            let message =
                "build \(path[0].description.name) is made for \(own.rawValue), which is of kind \(own.kind.rawValue), "
                + "not \(kind.rawValue); a stand-in is chosen by naming it in platforms"
            problems.append(Problem("kinds[\(index)]", 422, "wrong-platform", message))
        }
        return plan.platforms.isEmpty ? [own] : plan.platforms
    }

    /// The exact versions that the plan means on a platform now.
    private mutating func systems(_ plan: Plan, _ platform: Platform, _ offers: [SlotOffer]) -> [OSPin] {
        let offered = Store.systems(of: offers)
        let labels = plan.labels.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        let slot = "slot of platform \(platform.rawValue)\(labels.isEmpty ? "" : " with the labels \(labels)")"
        guard !offered.isEmpty else {
            let place = plan.labels.keys.sorted().first.map { "labels.\($0)" } ?? "os[0]"
            refuseOnce(
                Problem(
                    place,
                    409,
                    "no-slot",
                    "no \(slot) has ever joined, so no OS version can be pinned; add a host first, or ask for less"
                )
            )
            return []
        }
        var pins: [OSPin] = []
        for (index, text) in plan.os.enumerated() {
            guard let pin = OSRequirement(text)?.resolve(offered) else {
                let there = offered.map(\.description).joined(separator: ", ")
                refuseOnce(Problem("os[\(index)]", 422, "unknown-os", "no \(slot) offers \(text); there are \(there)"))
                continue
            }
            if pins.contains(pin) {
                warn("os \(text) means \(pin) on \(platform.rawValue), which is in the plan already")
            } else {
                pins.append(pin)
            }
        }
        return pins
    }

    /// Several paths may meet the same obstacle.
    private mutating func refuseOnce(_ problem: Problem) {
        if !problems.contains(where: { $0.problem == problem.problem }) { problems.append(problem) }
    }

    private mutating func warn(_ message: String) {
        if !warnings.contains(message) { warnings.append(message) }
    }
}

extension Platform {
    /// Whether a build made for this platform runs on a slot of another one.
    fileprivate func canRun(on slot: Platform) -> Bool {
        self == slot || slot == .standIn
    }
}
