import BerthSystem

/// Why a server does not start.
package enum HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
    case addressMalformed(String)
    case portUnavailable(address: String, port: UInt16, SystemError)
    case libraryFailed
    /// A server object starts once.
    case alreadyStarted

    package var description: String {
        switch self {
        case .addressMalformed(let address):
            "\"\(address)\" is no address to listen on; give an IPv4 or IPv6 address such as 127.0.0.1"
        case .portUnavailable(let address, let port, let error):
            "cannot listen on \(address) port \(port): \(error); choose another port or end what uses it"
        case .libraryFailed:
            "the HTTP library did not start its thread; the system's limits on memory, threads or descriptors may be "
                + "too low"
        case .alreadyStarted:
            "this HTTP server was already started"
        }
    }
}
