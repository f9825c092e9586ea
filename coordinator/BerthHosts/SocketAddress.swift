import Foundation

/// An address to connect to, in the system's own form.
struct SocketAddress: Sendable {
    let family: Int32
    private let bytes: [UInt8]

    private init(family: Int32, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result? {
        bytes.withUnsafeBytes { buffer in
            buffer.baseAddress.map {
                body($0.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
            }
        }
    }

    /// All addresses of a name, in the resolver's order. Blocks, unless the name is a literal address.
    /// - Throws: `SSHError.nameNotResolved`
    static func resolve(host: String, port: UInt16, numericOnly: Bool) throws(SSHError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (numericOnly ? AI_NUMERICHOST : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            let reason = code == EAI_SYSTEM ? String(cString: strerror(errno)) : String(cString: gai_strerror(code))
            throw .nameNotResolved(host: host, reason: reason)
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                let bytes = [UInt8](UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))
                addresses.append(SocketAddress(family: entry.ai_family, bytes: bytes))
            }
            next = entry.ai_next
        }
        guard !addresses.isEmpty else { throw .nameNotResolved(host: host, reason: "it has no address") }
        return addresses
    }
}
