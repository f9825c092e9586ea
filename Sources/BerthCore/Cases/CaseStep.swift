/// One step of a case.
package enum CaseStep: Sendable, Hashable, Codable {
    /// Installs over whatever is installed.
    case install(BuildRole)
    /// Launches the build that was installed last.
    case launch(LaunchPhase, create: Bool)
    /// Ends the running app.
    case terminate

    /// Whether the step's status file verifies the migration.
    package var isVerification: Bool {
        if case .launch(.verify, _) = self { true } else { false }
    }

    /// The step in words, as shown while it runs.
    package var title: String {
        switch self {
        case .install(let role): "install \(role.rawValue)"
        case .launch(let phase, _): "launch \(phase.rawValue)"
        case .terminate: "terminate"
        }
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case step
        case build
        case phase
        case create
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(besides: CodingKeys.allCases.map(\.stringValue))
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(String.self, forKey: .step) {
        case "install": self = .install(try container.decode(BuildRole.self, forKey: .build))
        case "launch":
            self = .launch(
                try container.decode(LaunchPhase.self, forKey: .phase),
                create: try container.decodeIfPresent(Bool.self, forKey: .create) ?? false
            )
        case "terminate": self = .terminate
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .step,
                in: container,
                debugDescription: "\(other.debugDescription) is no step; there are install, launch and terminate"
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .install(let role):
            try container.encode("install", forKey: .step)
            try container.encode(role, forKey: .build)
        case .launch(let phase, let create):
            try container.encode("launch", forKey: .step)
            try container.encode(phase, forKey: .phase)
            if create { try container.encode(true, forKey: .create) }
        case .terminate:
            try container.encode("terminate", forKey: .step)
        }
    }
}

/// A build's place in the path.
package enum BuildRole: String, Sendable, Hashable, Codable {
    case old
    case new
}

/// What a launch asks the probe for.
package enum LaunchPhase: String, Sendable, Hashable, Codable {
    case seed
    case verify
    case cleanup
}
