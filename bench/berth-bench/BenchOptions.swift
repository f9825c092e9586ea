import BerthSystem

/// How the measurements are made.
struct BenchOptions: Sendable {
    /// A short form that shows that everything works, with figures that scatter more.
    var isQuick = false
    /// An empty folder on a disk, for stores, keys and sockets.
    var folder: String
    /// A Python that has labgrid; absent: labgrid is not there.
    var labgridPython: String?
    /// The folder with the programs of the same build.
    var programs: String
    /// The folder with the peers' scripts.
    var scripts: String

    /// Reads `--name value` pairs.
    /// - Throws: `BenchFailure`
    init(_ arguments: some Sequence<String>) throws {
        var values: [String: String] = [:]
        var rest = Array(arguments)[...]
        while let option = rest.popFirst() {
            if option == "--quick" {
                isQuick = true
                continue
            }
            guard ["--folder", "--labgrid-python", "--programs", "--scripts"].contains(option),
                let value = rest.popFirst()
            else { throw BenchFailure("unknown or incomplete option \(option)") }
            values[option] = value
        }
        guard let folder = values["--folder"], let programs = values["--programs"], let scripts = values["--scripts"]
        else { throw BenchFailure("--folder, --programs and --scripts are needed") }
        self.folder = folder
        self.programs = programs
        self.scripts = scripts
        labgridPython = values["--labgrid-python"]
    }

    /// One of two values: for the whole measurement, or for its short form.
    func length<Value>(_ whole: Value, quick: Value) -> Value { isQuick ? quick : whole }

    /// Says in the log what goes on.
    func say(_ text: String) { StandardStreams.writeError("berth-bench: \(text)\n") }
}

/// Why a measurement could not be made.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
