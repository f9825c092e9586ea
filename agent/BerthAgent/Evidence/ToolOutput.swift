import BerthSystem

/// A call of the device tool as a text of the evidence.
enum ToolOutput {
    static func text(_ call: DeviceTool.Call) -> [UInt8] {
        var text = Array("$ xcrun \(call.arguments.joined(separator: " "))\n".utf8)
        guard let result = call.result else {
            return text + Array("not started: \(call.problem ?? "")\n".utf8)
        }
        let (seconds, attoseconds) = result.duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        text += Array("\(result.termination) after \(milliseconds) ms".utf8)
        text += Array((result.timedOut ? ", killed at its time limit" : "").utf8)
        text += Array((result.truncated ? ", output cut at 1 MiB" : "").utf8)
        text += Array("\n--- stdout\n".utf8) + result.output + Array("\n--- stderr\n".utf8) + result.errorOutput
        if let report = call.report { text += Array("\n--- report\n".utf8) + report }
        return text
    }
}
