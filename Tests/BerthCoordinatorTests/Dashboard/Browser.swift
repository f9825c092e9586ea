import BerthSystem
import BerthTestSupport
import Foundation
import Synchronization

/// A headless Chromium with one page, driven by its debugging protocol over a pair of pipes.
final class Browser: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var lastCall = 0
        var waiting: [Int: CheckedContinuation<[UInt8], any Error>] = [:]
        var complaints: [String] = []
        var hasEnded = false
    }

    /// Where Chromium is, if it is installed.
    static let executable: String? = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
        access($0, X_OK) == 0
    }

    private let profile: TemporaryDirectory
    private let process: ChildProcess
    private let commands: FileDescriptor
    private let answers: FileDescriptor
    private let state = Mutex(State())
    private let session = Mutex("")

    /// Starts the browser and opens an empty page.
    static func start() async throws -> Browser {
        guard let executable else { throw Failure(description: "chromium is not installed") }
        // Else writing to a browser that has ended would end the tests.
        Signals.ignoreBrokenPipes()
        let browser = try Browser(executable)
        Threads.detach(name: "browser-answers") { browser.readAnswers() }
        do {
            struct Target: Decodable { let targetId: String }
            struct Session: Decodable { let sessionId: String }
            let target = try await browser.call(Target.self, "Target.createTarget", ["url": "about:blank"])
            let attached = try await browser.call(
                Session.self,
                "Target.attachToTarget",
                ["targetId": .text(target.targetId), "flatten": true]
            )
            browser.session.withLock { $0 = attached.sessionId }
            for domain in ["Page", "Runtime", "Log"] { try await browser.call("\(domain).enable") }
            return browser
        } catch {
            await browser.stop()
            throw error
        }
    }

    private init(_ executable: String) throws {
        profile = try TemporaryDirectory()
        let (theirCommands, ourCommands) = try FileDescriptor.pipe()
        let (ourAnswers, theirAnswers) = try FileDescriptor.pipe()
        commands = ourCommands
        answers = ourAnswers
        // Chromium reads commands from descriptor 3 and answers on 4.
        process = try ChildProcess.spawn(
            ProcessSpecification(
                executable: "/bin/sh",
                arguments: [
                    "-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null", executable,
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                    "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                    "--remote-debugging-pipe", "--hide-scrollbars", "--user-data-dir=\(profile.path)", "about:blank",
                ],
                environment: [
                    "PATH": "/usr/bin:/bin", "HOME": profile.path, "LANG": "C.UTF-8", "TZ": "UTC",
                ],
                standardInput: .descriptor(theirCommands.number),
                standardOutput: .descriptor(theirAnswers.number),
                standardError: .file("\(profile.path)/log")
            )
        )
        withExtendedLifetime((theirCommands, theirAnswers)) {}
    }

    func stop() async {
        await process.end(grace: .seconds(2))
    }

    // MARK: What a test does with it

    func open(_ url: String) async throws {
        try await call("Page.navigate", ["url": .text(url)])
    }

    /// Loads the page anew, and returns when the old one is gone.
    func reload() async throws {
        try await evaluate("window.isOld = true")
        try await call("Page.reload")
        try await eventually("the page was loaded anew") {
            (try? await evaluate("window.isOld === undefined && document.readyState === 'complete'")) == "true"
        }
    }

    /// What a JavaScript expression gives, as text.
    @discardableResult
    func evaluate(_ expression: String) async throws -> String {
        struct Answer: Decodable {
            struct Value: Decodable { let value: String? }
            struct Exception: Decodable {
                struct Thrown: Decodable { let description: String? }
                let text: String
                let exception: Thrown?
            }
            let result: Value
            let exceptionDetails: Exception?
        }
        let answer = try await call(
            Answer.self,
            "Runtime.evaluate",
            [
                "expression": .text("(async () => String(await (\(expression))))()"), "awaitPromise": true,
                "returnByValue": true,
            ]
        )
        if let exception = answer.exceptionDetails {
            throw Failure(description: "\(expression): \(exception.exception?.description ?? exception.text)")
        }
        return answer.result.value ?? ""
    }

    /// The text that a reader sees of an element; empty while it is hidden.
    func text(_ selector: String) async throws -> String {
        try await evaluate(
            "(() => { const one = document.querySelector(\"\(selector)\"); return one?.checkVisibility() ? one.innerText : '' })()"
        )
    }

    /// Waits until an element's text holds a part.
    func wait(for part: String, in selector: String = "body", within limit: Duration = .seconds(20)) async throws {
        var last = ""
        do {
            try await eventually("\(selector) shows \"\(part)\"", within: limit) {
                // While a page gives way to another, there is nobody to ask.
                last = (try? await text(selector)) ?? ""
                return last.contains(part)
            }
        } catch let error as WaitedInVain {
            throw Failure(description: "\(error); it shows \"\(last.suffix(2000))\"; complaints: \(complaints)")
        }
    }

    func show(width: Int, height: Int, dark: Bool) async throws {
        try await call(
            "Emulation.setDeviceMetricsOverride",
            ["width": .number(width), "height": .number(height), "deviceScaleFactor": 1, "mobile": .flag(width < 500)]
        )
        try await call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": .text(dark ? "dark" : "light")]]]
        )
    }

    /// Presses the keys of a text, or one named key such as `Tab`.
    func press(_ key: String) async throws {
        let codes = ["Tab": 9, "Enter": 13, " ": 32]
        let code = JSON.number(codes[key] ?? 0)
        let text: JSON = .text(key == "Enter" ? "\r" : key.count == 1 ? key : "")
        try await call(
            "Input.dispatchKeyEvent",
            ["type": "keyDown", "key": .text(key), "text": text, "windowsVirtualKeyCode": code]
        )
        try await call("Input.dispatchKeyEvent", ["type": "keyUp", "key": .text(key), "windowsVirtualKeyCode": code])
    }

    func type(_ text: String) async throws {
        try await call("Input.insertText", ["text": .text(text)])
    }

    /// Writes the whole page as PNG.
    func screenshot(_ path: String) async throws {
        struct Shot: Decodable { let data: Data }
        let shot = try await call(Shot.self, "Page.captureScreenshot", ["captureBeyondViewport": true])
        try shot.data.write(to: URL(fileURLWithPath: path))
    }

    /// Errors that the page or the browser logged, violations of the page's policy among them.
    var complaints: [String] { state.withLock { $0.complaints } }

    func forgetComplaints() { state.withLock { $0.complaints = [] } }

    // MARK: The protocol

    private struct Call: Encodable {
        let id: Int
        let method: String
        let params: [String: JSON]
        let sessionId: String?
    }

    private struct Reply<Answer: Decodable>: Decodable {
        let result: Answer?
        let error: Problem?
    }

    private struct Problem: Decodable {
        let message: String
    }

    private func call(_ method: String, _ parameters: [String: JSON] = [:]) async throws {
        struct Nothing: Decodable {}
        _ = try await call(Nothing.self, method, parameters)
    }

    private func call<Answer: Decodable>(
        _ type: Answer.Type,
        _ method: String,
        _ parameters: [String: JSON]
    ) async throws -> Answer {
        let id = state.withLock { state in
            state.lastCall += 1
            return state.lastCall
        }
        let session = session.withLock { $0.isEmpty ? nil : $0 }
        let message = try JSONEncoder().encode(Call(id: id, method: method, params: parameters, sessionId: session))
        let bytes = try await withCheckedThrowingContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasEnded { state.waiting[id] = continuation }
                return state.hasEnded
            }
            if isOver { return continuation.resume(throwing: Failure(description: "the browser has ended: \(log)")) }
            Threads.detach(name: "browser-command") { [commands] in
                // A browser that ended is noticed by the reader of its answers.
                try? commands.write([UInt8](message) + [0])
            }
        }
        let reply = try JSONDecoder().decode(Reply<Answer>.self, from: Data(bytes))
        guard let result = reply.result else {
            throw Failure(description: "\(method): \(reply.error?.message ?? "no result")")
        }
        return result
    }

    private var log: String {
        String(decoding: (try? DurableFile.read("\(profile.path)/log", limit: 1 << 20)) ?? [], as: UTF8.self)
    }

    private func readAnswers() {
        var buffer: [UInt8] = []
        while let bytes = try? answers.read(upTo: 1 << 20), !bytes.isEmpty {
            buffer += bytes
            while let end = buffer.firstIndex(of: 0) {
                take(Array(buffer[..<end]))
                buffer.removeSubrange(...end)
            }
        }
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting {
            continuation.resume(throwing: Failure(description: "the browser ended: \(log.suffix(2000))"))
        }
    }

    private func take(_ message: [UInt8]) {
        struct Head: Decodable {
            let id: Int?
            let method: String?
        }
        guard let head = try? JSONDecoder().decode(Head.self, from: Data(message)) else { return }
        if let id = head.id {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: message)
        } else if ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"].contains(head.method) {
            let text = String(decoding: message, as: UTF8.self)
            // Advice is no complaint.
            guard !text.contains("\"source\":\"recommendation\"") else { return }
            state.withLock { $0.complaints.append(text) }
        }
    }
}

/// A parameter of the debugging protocol.
enum JSON: Sendable, Encodable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([JSON])
    case object([String: JSON])

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(arrayLiteral elements: JSON...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { first, _ in first })
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
