import BerthSystem
import CMicroHTTPD
import Foundation

/// libmicrohttpd's handle of one connection.
///
/// Unchecked: everything but `resume` is called on the daemon's thread, inside its callbacks, where the handle is
/// valid. `resume` may be called on any thread; the handle is valid as long as the connection is suspended, and
/// `HTTPExchange` resumes exactly once for each time that it suspended.
struct MHDConnection: @unchecked Sendable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    func suspend() { MHD_suspend_connection(handle) }

    func resume() { MHD_resume_connection(handle) }

    var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in values(.HEADER_KIND) { headers.add(name, value) }
        return headers
    }

    /// The fields of the query as they were sent.
    var rawQuery: [(name: String, value: String)] { values(.GET_ARGUMENT_KIND) }

    /// The client's numeric address; empty if it is unknown.
    var peer: String {
        guard let address = berth_mhd_client_address(handle) else { return "" }
        let isSix = Int32(address.pointee.sa_family) == AF_INET6
        let size = isSix ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func values(_ kind: MHD_ValueKind) -> [(name: String, value: String)] {
        final class Collected { var fields: [(name: String, value: String)] = [] }
        let collected = Collected()
        // The iterator runs within this call, so the object outlives it.
        let iterator: MHD_KeyValueIterator = { context, _, key, value in
            if let context, let key {
                let fields = Unmanaged<Collected>.fromOpaque(context).takeUnretainedValue()
                fields.fields.append((String(cString: key), value.map { String(cString: $0) } ?? ""))
            }
            return MHD_Result.YES
        }
        MHD_get_connection_values(handle, kind, iterator, Unmanaged.passUnretained(collected).toOpaque())
        return collected.fields
    }

    // MARK: Answers

    func answer(status: Int, headers: HTTPHeaders, bytes: [UInt8]) -> MHD_Result {
        // The library copies the bytes, so the cast away from constness writes nothing.
        let response = bytes.withUnsafeBytes {
            MHD_create_response_from_buffer(
                $0.count,
                UnsafeMutableRawBufferPointer(mutating: $0).baseAddress,
                .RESPMEM_MUST_COPY
            )
        }
        return queue(response, status: status, headers: headers)
    }

    /// - Returns: nil if the file cannot be opened or ends before `size` bytes from `offset` on do.
    func answer(
        status: Int,
        headers: HTTPHeaders,
        file path: String,
        offset: UInt64,
        size: UInt64
    ) -> MHD_Result? {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        var information = stat()
        let (end, isTooFar) = offset.addingReportingOverflow(size)
        guard fstat(number, &information) == 0, !isTooFar, UInt64(max(0, information.st_size)) >= end else {
            close(number)
            return nil
        }
        guard let response = MHD_create_response_from_fd_at_offset64(size, number, offset) else {
            close(number)
            return MHD_Result.NO
        }
        return queue(response, status: status, headers: headers)
    }

    /// Answers with what `exchange` streams; the response keeps it until it is done with.
    func answer(status: Int, headers: HTTPHeaders, streamOf exchange: HTTPExchange) -> MHD_Result {
        let context = Unmanaged.passRetained(exchange).toOpaque()
        let response = MHD_create_response_from_callback(
            .max,
            32 << 10,
            { context, _, buffer, size in
                guard let context, let buffer else { return -1 }
                let target = UnsafeMutableRawBufferPointer(start: buffer, count: size)
                return Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue().read(into: target)
            },
            context,
            { context in
                if let context { Unmanaged<HTTPExchange>.fromOpaque(context).release() }
            }
        )
        if response == nil { Unmanaged<HTTPExchange>.fromOpaque(context).release() }
        return queue(response, status: status, headers: headers)
    }

    private func queue(_ response: OpaquePointer?, status: Int, headers: HTTPHeaders) -> MHD_Result {
        guard let response else { return MHD_Result.NO }
        defer { MHD_destroy_response(response) }
        for (name, value) in headers.all where MHD_add_response_header(response, name, value) == MHD_Result.NO {
            Log(component: "http").error("A response header is not valid and was left out", ["name": name])
        }
        return MHD_queue_response(handle, UInt32(clamping: status), response)
    }
}
