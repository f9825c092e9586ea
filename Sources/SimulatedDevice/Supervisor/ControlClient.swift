import BerthSystem
import Foundation

/// Speaks to the supervisor of a booted device. Calls block.
package struct ControlClient: Sendable {
    /// Longest control message in bytes.
    static let longest = 8 << 20

    private let folder: DeviceFolder

    package init(_ device: Device) {
        folder = device.folder
    }

    /// What the booted device says about itself; nil when nobody answers for it.
    package func information() -> BootInformation? {
        guard case .information(let information) = try? ask(.information) else { return nil }
        return information
    }

    /// Sends a request and gives the answer.
    ///
    /// - Throws: the `SimulatorError` that the supervisor answered with, or `SystemError` when nobody answers.
    func ask(_ request: ControlRequest) throws -> ControlAnswer {
        let connection = try SocketConnection.connect(unixPath: folder.controlSocket)
        try connection.writeMessage(Array(JSONEncoder().encode(request)))
        guard let message = try connection.readMessage(limit: Self.longest) else { return .done }
        let answer = try JSONDecoder().decode(ControlAnswer.self, from: Data(message))
        if case .refused(let error) = answer { throw error }
        return answer
    }
}
