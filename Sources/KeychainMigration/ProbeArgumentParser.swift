import Foundation

/// Collects what the launch arguments say, and the first thing that is wrong with them.
struct ProbeArgumentParser {
    private var phases: [ProbePhase] = []
    private var seen: Set<String> = []
    private var draft = ProbeRequest(phase: .verify)
    /// Arguments that only some phases take, with those phases.
    private var bound: [(argument: String, phase: ProbePhase)] = []
    private var problem: String?

    mutating func read(_ argument: String, _ rest: inout ArraySlice<String>) {
        let phase = ProbePhase.allCases.first { $0.argument == argument }
        guard phase != nil || argument.hasPrefix("-Berth") else { return }
        if !seen.insert(argument).inserted {
            note("\(argument) is given twice")
        }
        if let phase {
            if !phases.contains(phase) { phases.append(phase) }
            return
        }
        switch argument {
        case "-BerthNonce":
            draft.nonce = value(of: argument, "32 hexadecimal digits", &rest) { ProbeNonce($0) }
        case "-BerthEpoch":
            draft.epoch = value(of: argument, "a number from 0", &rest, Self.number)
        case "-BerthExpectedDigest":
            draft.expectedDigest = value(of: argument, "sha256: and 64 hexadecimal digits", &rest) { text in
                let digits = text.dropFirst("sha256:".count)
                let isDigest =
                    text.hasPrefix("sha256:") && digits.utf8.count == 64 && Hexadecimal.decode(String(digits)) != nil
                return isDigest ? text.lowercased() : nil
            }
        case "-BerthCreate": take(argument, .verify) { $0.create = true }
        case "-BerthMalformed": take(argument, .seed) { $0.isMalformed = true }
        case "-BerthKillAt":
            let names = KeychainMigrationPoint.allCases.map(\.rawValue).joined(separator: ", ")
            let point = value(of: argument, "one of \(names)", &rest) { KeychainMigrationPoint(rawValue: $0) }
            take(argument, .verify) { $0.killAt = point }
        case "-BerthMarker":
            let version = value(of: argument, "a number from 0", &rest, Self.number)
            mark(argument, version.map { .version($0) })
        case "-BerthSetMarker": mark(argument, .own)
        case "-BerthClearMarker": mark(argument, .cleared)
        case "-BerthDeleteTarget": take(argument, .prepare) { $0.preparation.deletesTarget = true }
        case "-BerthDeleteLegacy": take(argument, .prepare) { $0.preparation.deletesLegacy = true }
        case "-BerthBystanders":
            let count = value(of: argument, "a number from 1 to 1000", &rest) { text in
                Self.number(text).flatMap { (1...1000).contains($0) ? $0 : nil }
            }
            take(argument, .prepare) { $0.preparation.bystanders = count ?? 0 }
        default:
            note("\(argument) is not an argument that this version of the probe knows")
        }
    }

    func request() throws(ProbeArgumentError) -> ProbeRequest? {
        guard !seen.isEmpty else { return nil }
        let names = ProbePhase.allCases.map(\.argument).joined(separator: ", ")
        guard phases.count == 1, let phase = phases.first else {
            throw ProbeArgumentError(nonce: draft.nonce, description: "exactly one of \(names) is needed")
        }
        if let problem {
            throw ProbeArgumentError(phase: phase, nonce: draft.nonce, description: problem)
        }
        if let misplaced = bound.first(where: { $0.phase != phase }) {
            let reason = "\(misplaced.argument) is only possible with \(misplaced.phase.argument)"
            throw ProbeArgumentError(phase: phase, nonce: draft.nonce, description: reason)
        }
        var request = draft
        request.phase = phase
        return request
    }

    private mutating func take(_ argument: String, _ phase: ProbePhase, _ change: (inout ProbeRequest) -> Void) {
        bound.append((argument, phase))
        change(&draft)
    }

    private mutating func mark(_ argument: String, _ marker: ProbePreparation.Marker?) {
        if draft.preparation.marker != nil { note("\(argument) is given besides another argument about the marker") }
        take(argument, .prepare) { $0.preparation.marker = marker }
    }

    private static func number(_ text: String) -> Int? {
        Int(text).flatMap { $0 >= 0 && text.utf8.first != UInt8(ascii: "+") ? $0 : nil }
    }

    private mutating func value<Value>(
        of argument: String,
        _ form: String,
        _ rest: inout ArraySlice<String>,
        _ convert: (String) -> Value?
    ) -> Value? {
        // The value is not repeated in the message: what was misplaced could be anything.
        guard let text = rest.first, let value = convert(text) else {
            note("\(argument) needs \(form) after it")
            return nil
        }
        rest.removeFirst()
        return value
    }

    private mutating func note(_ text: String) {
        if problem == nil { problem = text }
    }
}
