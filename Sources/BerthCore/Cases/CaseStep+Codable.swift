extension CaseStep: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case step
        case build
        case phase
        case create
        case malformed
        case killAt
        case expect
        case decides
        case marker
        case setMarker
        case clearMarker
        case deleteTarget
        case deleteLegacy
        case bystanders
        case call
        case status
        case times
        case after
    }

    private enum Kind: String, Codable, CaseIterable {
        case install
        case launch
        case terminate
        case reboot
        case fault
        case lock
        case unlock
    }

    private typealias Container = KeyedDecodingContainer<CodingKeys>

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(besides: CodingKeys.allCases.map(\.stringValue))
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let kind = try container.word(Kind.self, forKey: .step)
        func allow(_ keys: CodingKeys...) throws {
            try decoder.refuseUnknownKeys(besides: ([.step] + keys).map(\.stringValue))
        }
        switch kind {
        case .install:
            try allow(.build)
            self = .install(try container.word(BuildRole.self, forKey: .build))
        case .launch:
            let phase = try container.word(
                LaunchPhase.self,
                among: [.seed, .verify, .prepare, .census],
                forKey: .phase
            )
            switch phase {
            case .seed: try allow(.phase, .malformed, .expect, .decides)
            case .verify: try allow(.phase, .create, .killAt, .expect, .decides)
            case .prepare:
                try allow(.phase, .marker, .setMarker, .clearMarker, .deleteTarget, .deleteLegacy, .bystanders)
            case .census, .cleanup: try allow(.phase, .decides)
            }
            self = .launch(try Self.launch(phase, container))
        case .terminate:
            try allow()
            self = .terminate
        case .reboot:
            try allow()
            self = .reboot
        case .lock:
            try allow()
            self = .lock
        case .unlock:
            try allow()
            self = .unlock
        case .fault:
            try allow(.call, .status, .times, .after)
            let status = try container.decode(Int32.self, forKey: .status)
            guard status != 0 else {
                throw DecodingError.dataCorruptedError(
                    forKey: .status,
                    in: container,
                    debugDescription: "0 is success and no fault; give the OSStatus that the call shall answer with"
                )
            }
            self = .fault(
                KeychainFault(
                    call: try container.word(KeychainFault.Call.self, forKey: .call),
                    status: status,
                    times: try container.number(forKey: .times, in: 1...1000, default: 1),
                    after: try container.number(forKey: .after, in: 0...1000, default: 0)
                )
            )
        }
    }

    private static func launch(_ phase: LaunchPhase, _ container: Container) throws -> CaseLaunch {
        func flag(_ key: CodingKeys) throws -> Bool { try container.decodeIfPresent(Bool.self, forKey: key) ?? false }
        var launch = CaseLaunch(phase)
        launch.creates = try flag(.create)
        launch.isMalformed = try flag(.malformed)
        if container.contains(.killAt) {
            launch.killAt = try container.word(CaseLaunch.KillPoint.self, forKey: .killAt)
        }
        if container.contains(.expect) {
            launch.expectation = try container.word(CaseLaunch.Expectation.self, forKey: .expect)
        }
        launch.decides = try container.decodeIfPresent([RuleID].self, forKey: .decides) ?? []
        var markers: [CaseLaunch.Marker] = []
        if container.contains(.marker) {
            markers.append(.version(try container.number(forKey: .marker, in: 0...1_000_000, default: 0)))
        }
        if try flag(.setMarker) { markers.append(.own) }
        if try flag(.clearMarker) { markers.append(.cleared) }
        guard markers.count <= 1 else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath,
                    debugDescription: "of marker, setMarker and clearMarker at most one can be given"
                )
            )
        }
        launch.preparation = CaseLaunch.Preparation(
            marker: markers.first,
            deletesTarget: try flag(.deleteTarget),
            deletesLegacy: try flag(.deleteLegacy),
            bystanders: try container.number(forKey: .bystanders, in: 0...1000, default: 0)
        )
        return launch
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .install(let role):
            try container.encode(Kind.install, forKey: .step)
            try container.encode(role, forKey: .build)
        case .launch(let launch):
            try container.encode(Kind.launch, forKey: .step)
            try encode(launch, &container)
        case .terminate: try container.encode(Kind.terminate, forKey: .step)
        case .reboot: try container.encode(Kind.reboot, forKey: .step)
        case .lock: try container.encode(Kind.lock, forKey: .step)
        case .unlock: try container.encode(Kind.unlock, forKey: .step)
        case .fault(let fault):
            try container.encode(Kind.fault, forKey: .step)
            try container.encode(fault.call, forKey: .call)
            try container.encode(fault.status, forKey: .status)
            try container.encode(fault.times, forKey: .times)
            try container.encode(fault.after, forKey: .after)
        }
    }

    /// What says nothing is left out, so that each launch has one canonical form.
    private func encode(_ launch: CaseLaunch, _ container: inout KeyedEncodingContainer<CodingKeys>) throws {
        try container.encode(launch.phase, forKey: .phase)
        if launch.creates { try container.encode(true, forKey: .create) }
        if launch.isMalformed { try container.encode(true, forKey: .malformed) }
        try container.encodeIfPresent(launch.killAt, forKey: .killAt)
        try container.encodeIfPresent(launch.expectation, forKey: .expect)
        if !launch.decides.isEmpty { try container.encode(launch.decides, forKey: .decides) }
        switch launch.preparation.marker {
        case .version(let version): try container.encode(version, forKey: .marker)
        case .own: try container.encode(true, forKey: .setMarker)
        case .cleared: try container.encode(true, forKey: .clearMarker)
        case nil: break
        }
        if launch.preparation.deletesTarget { try container.encode(true, forKey: .deleteTarget) }
        if launch.preparation.deletesLegacy { try container.encode(true, forKey: .deleteLegacy) }
        if launch.preparation.bystanders > 0 {
            try container.encode(launch.preparation.bystanders, forKey: .bystanders)
        }
    }
}
