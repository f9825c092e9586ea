import BerthSystem

/// `berth-sim fault`: lets keychain calls of a booted device's apps fail.
enum FaultVerb {
    private static let usage = """
        usage: berth-sim fault [--set PATH] DEVICE --call add|copy|update|delete --status N [--times 1] [--after 0]
               berth-sim fault [--set PATH] DEVICE --clear

        """

    static func run(_ arguments: [String]) throws -> Int32 {
        let clears = arguments.contains("--clear")
        let rest = arguments.filter { $0 != "--clear" }
        let names: Set = clears ? ["--set"] : ["--set", "--call", "--status", "--times", "--after"]
        guard let (name, options) = BerthSim.parse(rest, options: names) else {
            StandardStreams.writeError(usage)
            return 64
        }
        var request = ControlRequest.clearFaults
        if !clears {
            guard let fault = fault(options) else {
                StandardStreams.writeError("berth-sim: the call, or a number, is missing or out of range\n\(usage)")
                return 64
            }
            request = .fault(fault)
        }
        let device = try DeviceSet(path: options["--set"]).device(name)
        let client = ControlClient(device)
        guard client.information() != nil else { throw SimulatorError.wrongState("inject faults", .shutdown) }
        if case .cleared(let left) = try client.ask(request) { StandardStreams.writeOutput("\(left)\n") }
        return 0
    }

    private static func fault(_ options: [String: String]) -> KeychainFault? {
        guard let call = options["--call"], KeychainFault.calls.contains(call),
            let status = options["--status"].flatMap({ Int32($0) }), status != 0,
            let times = Int(options["--times"] ?? "1"), (1...1000).contains(times),
            let after = Int(options["--after"] ?? "0"), (0...1000).contains(after)
        else { return nil }
        return KeychainFault(call: call, status: status, times: times, after: after)
    }
}
