import BerthCore

extension CommandDescription.Option {
    /// What all commands take that queue a batch.
    static var ofSubmissions: [CommandDescription.Option] {
        [
            .init(
                name: "--deadline",
                kind: .value("TIME"),
                help: "what has no end by then expires: \(Deadline.accepted)"
            ),
            .init(
                name: "--idempotency-key",
                kind: .value("KEY"),
                help: "the same again under the same key gives the same batch"
            ),
            .init(name: "--watch", kind: .flag, help: "follow the batch until all its runs have finished"),
            .init(name: "--plain", kind: .flag, help: "with --watch: a line for each change, also on a terminal"),
        ]
    }
}
