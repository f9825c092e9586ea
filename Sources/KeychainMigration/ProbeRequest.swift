import Foundation

/// What the launch arguments ask the probe to do.
struct ProbeRequest: Equatable {
    var phase: ProbePhase
    var nonce: ProbeNonce?
    var epoch: Int?
    var expectedDigest: String?
    var create = false
}

/// Launch arguments that the probe does not act on: nothing is touched, in the keychain or elsewhere.
struct ProbeArgumentError: Error, Equatable, CustomStringConvertible {
    /// The phase, if exactly one was asked for.
    var phase: ProbePhase?
    /// The nonce, if it was well formed.
    var nonce: ProbeNonce?
    /// What is wrong, naming the argument.
    var description: String
}

extension ProbeRequest {
    /// Reads launch arguments. Arguments that are not the probe's are the app's and are passed over.
    ///
    /// - Returns: nil when no argument is the probe's.
    /// - Throws: `ProbeArgumentError` when an argument of the probe is malformed, repeated, unknown or out of place.
    static func parse(_ arguments: [String]) throws(ProbeArgumentError) -> ProbeRequest? {
        var parser = ProbeArgumentParser()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            parser.read(argument, &rest)
        }
        return try parser.request()
    }
}

/// Collects what the arguments say, and the first thing that is wrong with them.
private struct ProbeArgumentParser {
    private var phases: [ProbePhase] = []
    private var seen: Set<String> = []
    private var nonce: ProbeNonce?
    private var epoch: Int?
    private var expectedDigest: String?
    private var create = false
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
        case "-BerthCreate":
            create = true
        case "-BerthNonce":
            nonce = value(of: argument, "32 hexadecimal digits", &rest) { ProbeNonce($0) }
        case "-BerthEpoch":
            epoch = value(of: argument, "a number from 0", &rest) { text in
                Int(text).flatMap { $0 >= 0 && text.utf8.first != UInt8(ascii: "+") ? $0 : nil }
            }
        case "-BerthExpectedDigest":
            expectedDigest = value(of: argument, "sha256: and 64 hexadecimal digits", &rest) { text in
                let digits = text.dropFirst("sha256:".count)
                let isDigest =
                    text.hasPrefix("sha256:") && digits.utf8.count == 64 && Hexadecimal.decode(String(digits)) != nil
                return isDigest ? text.lowercased() : nil
            }
        default:
            note("\(argument) is not an argument that this version of the probe knows")
        }
    }

    func request() throws(ProbeArgumentError) -> ProbeRequest? {
        guard !seen.isEmpty else { return nil }
        let names = ProbePhase.allCases.map(\.argument).joined(separator: ", ")
        guard phases.count == 1, let phase = phases.first else {
            throw ProbeArgumentError(nonce: nonce, description: "exactly one of \(names) is needed")
        }
        if let problem {
            throw ProbeArgumentError(phase: phase, nonce: nonce, description: problem)
        }
        if create, phase != .verify {
            let reason = "-BerthCreate is only possible with \(ProbePhase.verify.argument)"
            throw ProbeArgumentError(phase: phase, nonce: nonce, description: reason)
        }
        return ProbeRequest(phase: phase, nonce: nonce, epoch: epoch, expectedDigest: expectedDigest, create: create)
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
