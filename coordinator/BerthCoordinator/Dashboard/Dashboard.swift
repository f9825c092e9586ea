import BerthArchive
import BerthCore

/// The dashboard's page and its files (Dashboard/README.md). They hold no data, so they are given to everybody; what
/// the page shows comes from the API, which asks for a token.
package enum Dashboard {
    private struct Asset {
        let type: String
        let bytes: [UInt8]
        /// By which a browser asks whether its copy is the present one.
        let tag: String

        init(_ type: String, _ bytes: [UInt8]) {
            self.type = type
            self.bytes = bytes
            tag = "\"\(Digest.sha256(of: bytes).short)\""
        }
    }

    private static let script = "text/javascript; charset=utf-8"
    private static let page = Asset("text/html; charset=utf-8", PackageResources.index_html)
    private static let assets = [
        "api.js": Asset(script, PackageResources.api_js),
        "dom.js": Asset(script, PackageResources.dom_js),
        "format.js": Asset(script, PackageResources.format_js),
        "icon.svg": Asset("image/svg+xml", PackageResources.icon_svg),
        "main.js": Asset(script, PackageResources.main_js),
        "sections.js": Asset(script, PackageResources.sections_js),
        "style.css": Asset("text/css; charset=utf-8", PackageResources.style_css),
    ]

    /// Nothing but the page's own files may run, and nobody may frame it. Trusted types forbid what would turn text
    /// into markup or code.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The answer to a request for the page or one of its files; nil when the request is for something else.
    static func response(to request: HTTPRequest) -> HTTPResponse? {
        let asset: Asset?
        switch request.segments.first {
        case nil: asset = page
        case "assets": asset = request.segments.count == 2 ? assets[request.segments[1]] : nil
        default: return nil
        }
        guard ["GET", "HEAD"].contains(request.method), let asset else {
            return .error(status: 404, code: "unknown-path", message: "there is no \(request.method) \(request.path)")
        }
        var headers: HTTPHeaders = [
            "Cache-Control": "no-cache",
            "Content-Security-Policy": policy,
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "ETag": asset.tag,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        ]
        if request.headers["If-None-Match"] == asset.tag { return HTTPResponse(status: 304, headers: headers) }
        headers["Content-Type"] = asset.type
        return HTTPResponse(status: 200, headers: headers, body: .bytes(asset.bytes))
    }
}
