/// Where to connect and with which bounds; the part of an endpoint that needs no key.
struct SSHDestination: Sendable {
    var host: String
    var port: UInt16
    var connectTimeout: Duration
    var keepaliveInterval: Duration
    var deadPeerAfter: Duration
    var sendBufferSize: Int?

    init(_ endpoint: SSHEndpoint) {
        host = endpoint.hostName
        port = endpoint.port
        connectTimeout = endpoint.connectTimeout
        keepaliveInterval = endpoint.keepaliveInterval
        deadPeerAfter = endpoint.deadPeerAfter
        sendBufferSize = endpoint.sendBufferSize
    }

    init(host: String, port: UInt16, timeout: Duration) {
        self.host = host
        self.port = port
        connectTimeout = timeout
        keepaliveInterval = timeout
        deadPeerAfter = timeout
    }
}
