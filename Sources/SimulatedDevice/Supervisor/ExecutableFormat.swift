import BerthSystem
import Foundation

/// What kind of program a file is.
enum ExecutableFormat: Equatable {
    /// An ELF program for this machine.
    case native
    /// An ELF program for another machine, by its number.
    case foreignELF(machine: UInt16)
    /// A program of an Apple system.
    case machO
    case unknown

    #if arch(x86_64)
        private static let machine: UInt16 = 62
    #elseif arch(arm64)
        private static let machine: UInt16 = 183
    #endif

    /// Reads a file's first bytes.
    ///
    /// - Throws: `SystemError`
    init(path: String) throws {
        let header = try FileDescriptor(path: path, flags: O_RDONLY).read(upTo: 20)
        guard header.count == 20 else {
            self = .unknown
            return
        }
        switch Array(header.prefix(4)) {
        case [0x7F, 0x45, 0x4C, 0x46]:
            // Byte 4 says 64 bits, byte 5 the byte order of the machine number at 18.
            let littleEndian = header[5] == 1
            let machine =
                littleEndian
                ? UInt16(header[18]) | UInt16(header[19]) << 8 : UInt16(header[18]) << 8 | UInt16(header[19])
            self = header[4] == 2 && littleEndian && machine == Self.machine ? .native : .foreignELF(machine: machine)
        case [0xCF, 0xFA, 0xED, 0xFE], [0xFE, 0xED, 0xFA, 0xCF], [0xCA, 0xFE, 0xBA, 0xBE], [0xCE, 0xFA, 0xED, 0xFE]:
            self = .machO
        default: self = .unknown
        }
    }

    /// In the words of an installation error.
    var text: String {
        switch self {
        case .native: "linux-simulated"
        case .foreignELF(let machine): "Linux, ELF machine \(machine)"
        case .machO: "Mach-O"
        case .unknown: ""
        }
    }
}
