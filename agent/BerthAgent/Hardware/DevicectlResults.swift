import BerthCore
import Foundation

/// Results of devicectl's verbs, as far as they decide something.
package enum DevicectlResults {
    /// A verb whose result is not looked at.
    package struct Nothing: Decodable, Sendable {}

    /// `list devices`
    package struct Devices: Decodable, Sendable {
        /// An entry that cannot be read is no reason to miss the others.
        private struct Entry: Decodable {
            let device: DevicectlDevice?

            init(from decoder: any Decoder) throws {
                device = try? DevicectlDevice(from: decoder)
            }
        }

        package let devices: [DevicectlDevice]

        private enum CodingKeys: String, CodingKey {
            case devices
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            devices = try container.decode([Entry].self, forKey: .devices).compactMap(\.device)
        }

        /// The phone of a hardware UDID; newer tools list simulators too, which are none.
        package func phone(_ udid: String) -> DevicectlDevice? {
            devices.first { !$0.isSimulator && $0.udid?.caseInsensitiveCompare(udid) == .orderedSame }
        }
    }

    /// `device info lockState`
    package struct LockState: Decodable, Sendable {
        /// True when somebody has to unlock the device.
        package let passcodeRequired: Bool?
        package let unlockedSinceBoot: Bool?
    }

    /// `device info ddiServices`
    package struct DeveloperImage: Decodable, Sendable {
        package let isUsable: Bool?
    }

    /// `device info apps`
    package struct Applications: Decodable, Sendable {
        package struct Application: Decodable, Sendable {
            package let bundleIdentifier: String
            package let version: String?
            package let bundleVersion: String?
            /// Where the installed bundle lies on the device.
            package let url: String?
            /// Whether files of the data container can be copied.
            package let containerAccessible: Bool?
        }

        package let apps: [Application]
    }

    /// `device install app`
    package struct Installation: Decodable, Sendable {
        package struct Application: Decodable, Sendable {
            package let bundleID: String
            package let installationURL: String?
        }

        package let installedApplications: [Application]
    }

    /// `device process launch`
    package struct Launch: Decodable, Sendable {
        package let process: Process
    }

    /// `device info processes`
    package struct Processes: Decodable, Sendable {
        package let runningProcesses: [Process]
    }

    package struct Process: Decodable, Sendable, Hashable {
        package let processIdentifier: Int32
        package let executable: String?
    }

    /// `device info files`
    package struct Files: Decodable, Sendable {
        package struct File: Decodable, Sendable {
            package struct Metadata: Decodable, Sendable {
                package let size: Int64?
                package let lastModDate: String?
            }

            package struct Resources: Decodable, Sendable {
                package let isDirectory: Bool?
                package let isSymbolicLink: Bool?
            }

            package let relativePath: String?
            package let name: String?
            package let metadata: Metadata?
            package let resources: Resources?

            package var path: String { relativePath ?? name ?? "" }
        }

        package let files: [File]
    }
}
