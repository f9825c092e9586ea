import BerthSystem

/// Where to connect and with which bounds; the part of an endpoint that needs no key.
struct SSHDestination: Sendable {
    var host: String
    var port: UInt16
    var connectTimeout: Duration
    var keepaliveInterval: Duration
    var deadPeerAfter: Duration
    var sendBufferSize: Int?
    var compresses = false
    /// What carries the connection, ended together with it.
    var proxy: SSHProxy?
    /// Already connected; nil: connect to the host.
    var socket: FileDescriptor?

    init(_ endpoint: SSHEndpoint, socket: FileDescriptor?, proxy: SSHProxy?) {
        self.socket = socket ?? proxy?.socket
        self.proxy = proxy
        host = endpoint.hostName
        port = endpoint.port
        connectTimeout = endpoint.connectTimeout
        keepaliveInterval = endpoint.keepaliveInterval
        deadPeerAfter = endpoint.deadPeerAfter
        sendBufferSize = endpoint.sendBufferSize
        compresses = endpoint.compresses
    }

    init(host: String, port: UInt16, timeout: Duration) {
        self.host = host
        self.port = port
        connectTimeout = timeout
        keepaliveInterval = timeout
        deadPeerAfter = timeout
    }

    /// What watches the host once its channel is open.
    func watch(now: ContinuousClock.Instant) -> PeerWatch {
        PeerWatch(askAfter: keepaliveInterval, deadAfter: deadPeerAfter, now: now)
    }
}
