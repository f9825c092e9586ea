import BerthCore
import BerthStore
import BerthSystem
import BerthTestSupport
import Foundation
import Testing

/// The dashboard in a real browser, before a real API.
@Suite(
    .enabled(if: Browser.executable != nil, "chromium is not installed; ops/setup --browser installs it"),
    .timeLimit(.minutes(8)),
    .serialized
)
struct DashboardTests {
    private static let policy = GatePolicy(
        name: "simulated",
        requirements: [.init(platform: .linuxSimulated, cases: ["fresh-install", "update"])]
    )

    /// Runs a farm with slot `a` and a browser that shows its page.
    private func withDashboard(
        signedIn: Bool = true,
        _ body: @escaping @Sendable (ServedFarm, Browser) async throws -> Void
    ) async throws {
        try await ServedFarm.run(policies: [.standard, Self.policy]) { farm in
            let browser = try await Browser.start()
            let result: Result<Void, any Error>
            do {
                try await browser.show(width: 1280, height: 900, dark: false)
                try await browser.open("http://127.0.0.1:\(farm.port)/")
                try await browser.wait(for: "Sign in", in: "#sign-in")
                if signedIn { try await signIn(browser) }
                result = .success(try await body(farm, browser))
            } catch {
                result = .failure(error)
            }
            await browser.stop()
            try result.get()
        }
    }

    private func signIn(_ browser: Browser, token: String = ServedFarm.token) async throws {
        try await browser.evaluate("document.querySelector('#token').focus()")
        try await browser.type(token)
        try await browser.press("Enter")
    }

    /// Lets slots join whose runs a test then drives.
    private func join(_ slots: [String], _ farm: ServedFarm) async throws {
        try await farm.host.greet()
        for slot in slots { try farm.host.join(slot) }
        try await eventually("the slots have joined") { try await farm.store.slots().count == slots.count }
    }

    @Test func aWrongTokenIsRefusedAndTheRightOneIsKeptForTheTabOnly() async throws {
        try await withDashboard(signedIn: false) { _, browser in
            try await signIn(browser, token: "wrong")
            try await browser.wait(for: "not known to this coordinator", in: "#sign-in-problem")
            #expect(try await browser.evaluate("document.activeElement.id") == "token")
            browser.forgetComplaints()
            try await signIn(browser)
            try await browser.wait(for: "Live", in: "#connection")
            #expect(try await browser.evaluate("document.cookie + localStorage.length") == "0")
            try await browser.reload()
            try await browser.wait(for: "Live", in: "#connection")
            try await browser.evaluate("document.querySelector('#sign-out').click()")
            try await browser.wait(for: "Sign in", in: "#sign-in")
            #expect(try await browser.evaluate("sessionStorage.length") == "0")
            #expect(try await browser.text("#board").isEmpty)
            #expect(browser.complaints == [])
        }
    }

    @Test func anEmptyFarmSaysWhatToDoNext() async throws {
        try await withDashboard { _, browser in
            try await browser.wait(for: "berth-agent serve --slot", in: "#slots")
            #expect(try await browser.text("#gate").contains("berth submit --old"))
            #expect(try await browser.text("#results").contains("No run has a verdict yet"))
            #expect(try await browser.text("#ledgers").contains("No attempt on one has ended yet"))
        }
    }

    @Test func aRunIsFollowedFromSlotToLedgerWithoutReload() async throws {
        try await withDashboard { farm, browser in
            try await browser.wait(for: "Live", in: "#connection")
            try await browser.evaluate(
                "window.shifts = 0, new PerformanceObserver((list) => { for (const one of list.getEntries()) "
                    + "window.shifts += one.value }).observe({ type: 'layout-shift' })"
            )
            try await join(["a"], farm)
            try await browser.wait(for: "Waits for a run", in: "#slots")
            try await farm.submit(["fresh-install", "update"])
            let first = try await farm.assignment(to: "a")
            try farm.accept(first, on: "a")
            try await browser.wait(for: "Busy", in: "#slots")
            try await browser.wait(for: "1 run", in: "#summary")
            let slots = try await browser.text("#slots")
            #expect(slots.contains("fresh-install") && slots.contains("legacy → correct"))
            // What moves on must not move what is around it.
            try await browser.evaluate("window.shifts = 0")
            for (number, title) in ["erase the device", "install correct", "launch correct"].enumerated() {
                try farm.progress(first, on: "a", title, number + 1, of: 3)
                try await browser.wait(for: title, in: "#slots")
                #expect(try await browser.text("#slots").contains("\(number + 1)/3"))
                #expect(try await browser.evaluate("document.querySelector('progress').value") == "\(number + 1)")
            }
            #expect(try await browser.evaluate("window.shifts") == "0")
            try farm.end(first, on: "a")
            let second = try await farm.assignment(to: "a", number: 2)
            try await browser.wait(for: "held: G1", in: "#results")
            try await browser.wait(for: "1 missing, 1 satisfied", in: "#gate")
            try farm.accept(second, on: "a")
            // Markup in what an agent says stays text.
            try farm.end(second, on: "a", broken: "item <img src=x onerror=alert(1)> is not found")
            try await browser.wait(for: "G1 item <img src=x onerror=alert(1)> is not found", in: "#results")
            try await browser.wait(for: "2 entries", in: "[aria-labelledby=simulator-title]")
            #expect(try await browser.text("[aria-labelledby=hardware-title]").contains("no entries"))
            #expect(try await browser.text("#results").contains("Failed"))
            try await browser.wait(for: "Blocked", in: "#gate")
            #expect(try await browser.text("#gate").contains("Incomplete"), "the standard policy asks for phones")
            let head = try await farm.store.ledgerHead(.simulator).head.hex.prefix(12)
            #expect(try await browser.text("[aria-labelledby=simulator-title]").contains(head))
            #expect(try await browser.evaluate("performance.getEntriesByType('navigation').length") == "1")
            #expect(browser.complaints == [])
        }
    }

    @Test func aSlotThatTakesNoRunSaysWhyUntilItDoes() async throws {
        try await withDashboard { farm, browser in
            let places = SlotPlaces(slot: "a", machine: "m", user: "u", agent: "a", state: "s", xcrun: "x", lock: "l")
            let kept = KeptDevice(udid: "AB12", stage: .preserved, run: "r-1", attempt: "a-1", since: 5)
            let full = OutcomeCause("preserved-budget-full", "1 device is preserved: release some")
            try await farm.host.greet()
            try farm.host.join("a", keeping: SlotKeeping(devices: [kept], refusal: full, places: places))
            try await browser.wait(for: "1 device is preserved: release some", in: "#slots")
            #expect(try await browser.text("#slots").contains("Held"))
            #expect(try await browser.text("#slots").contains("1 device kept"))
            #expect(try await browser.text("#summary").contains("1 held"))
            let free = SlotKeeping(devices: [], refusal: nil, places: places)
            try farm.host.say(.heartbeat(Heartbeat(sequence: 1, running: nil, keeping: free)), route: "a")
            try await browser.wait(for: "Waits for a run", in: "#slots")
            #expect(try await !browser.text("#slots").contains("kept"))
        }
    }

    @Test func aLostConnectionIsShownAndWhatWasMissedIsMadeUp() async throws {
        try await withDashboard { farm, browser in
            try await join(["a"], farm)
            try await browser.wait(for: "Waits for a run", in: "#slots")
            #expect(try await browser.text("#connection-time").contains("Updated "))
            await farm.stopServing()
            try await browser.wait(for: "Connection lost, trying again in", in: "#connection")
            #expect(try await browser.text("#slots").contains("Waits for a run"), "what was known stays")
            farm.host.hangUp()
            try farm.serveAgain()
            try await browser.wait(for: "Live", in: "#connection")
            try await browser.wait(for: "Offline", in: "#slots")
        }
    }

    @Test func theKeyboardReachesEverythingAndAnOpenedVerdictStaysOpen() async throws {
        try await withDashboard { farm, browser in
            try await join(["a"], farm)
            try await farm.submit(["update"])
            let assignment = try await farm.assignment(to: "a")
            try await browser.wait(for: "Incomplete", in: "#gate")
            // A page that was just loaded: Tab begins at its top.
            try await browser.reload()
            try await browser.wait(for: "Incomplete", in: "#gate")
            #expect(try await browser.evaluate("document.activeElement.tagName") == "BODY")
            var reached: [String] = []
            for _ in 0..<8 where reached.last != "SUMMARY" {
                try await browser.press("Tab")
                reached.append(try await browser.evaluate("document.activeElement.tagName"))
            }
            #expect(reached.contains("BUTTON") && reached.last == "SUMMARY", "\(reached)")
            try await browser.press("Enter")
            try await browser.wait(for: "no run of this case on ios-simulator is recorded", in: "#gate")
            try farm.accept(assignment, on: "a")
            try farm.end(assignment, on: "a")
            try await browser.wait(for: "1 missing, 1 satisfied", in: "#gate")
            #expect(try await browser.evaluate("document.querySelector('details').open") == "true")
            #expect(try await browser.evaluate("document.activeElement.tagName") == "SUMMARY")
        }
    }

    @Test func everyViewIsLegible() async throws {
        try await withDashboard { farm, browser in
            try await scene(farm)
            try await browser.wait(for: "Passed", in: "#results")
            try await browser.wait(for: "seed-verify", in: "#slots")
            let folder = ProcessInfo.processInfo.environment["BERTH_SCREENSHOTS"]
            if let folder { try DurableFile.makeFolder(folder) }
            for (name, width, height, dark) in [
                ("light", 1280, 900, false), ("dark", 1280, 900, true), ("phone", 360, 740, false),
                ("phone-dark", 360, 740, true), ("tablet", 820, 1100, false),
            ] {
                try await browser.show(width: width, height: height, dark: dark)
                try await browser.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)))")
                #expect(
                    try await browser.evaluate("document.documentElement.scrollWidth") == "\(width)",
                    "nothing reaches over the edge at \(width)"
                )
                #expect(try await browser.evaluate(Self.faint) == "", "\(name)")
                if let folder { try await browser.screenshot("\(folder)/\(name).png") }
            }
            guard let folder else { return }
            try await browser.show(width: 1280, height: 900, dark: false)
            try await browser.evaluate("document.querySelector('details').open = true")
            try await browser.screenshot("\(folder)/gate-open.png")
            await farm.stopServing()
            try await browser.wait(for: "Connection lost", in: "#connection")
            try await browser.screenshot("\(folder)/lost.png")
            try await browser.evaluate("document.querySelector('#sign-out').click()")
            try await browser.screenshot("\(folder)/sign-in.png")
        }
    }

    /// Some of everything: results of both kinds, slots at work, idle and gone, runs that wait.
    private func scene(_ farm: ServedFarm) async throws {
        try await join(["sim-1", "sim-2", "sim-3", "sim-10"], farm)
        try farm.host.say(.closing(Closing(reason: "the agent was stopped")), route: "sim-10")
        try await farm.submit(["fresh-install", "update", "restart"])
        try await farm.submit(["fresh-install", "update", "restart"], new: "renamed-query")
        var seen = ["sim-1": 0, "sim-2": 0, "sim-3": 0]
        for _ in 0..<6 {
            var next: (slot: String, assignment: Assignment)?
            try await eventually("a slot is given a run") {
                for (slot, count) in seen where farm.host.assignments(to: slot).count > count {
                    next = (slot, farm.host.assignments(to: slot)[count])
                }
                return next != nil
            }
            guard let (slot, assignment) = next else { return }
            seen[slot, default: 0] += 1
            try farm.accept(assignment, on: slot)
            let isBroken =
                assignment.builds.last?.description.name == "renamed-query"
                && assignment.pins.caseName != "fresh-install"
            try farm.end(
                assignment,
                on: slot,
                broken: isBroken
                    ? "item 1 of the old build is not found by the new build: errSecItemNotFound (-25300)" : nil
            )
        }
        try await eventually("all have ended") { try await farm.store.ledgerHead(.simulator).length == 6 }
        try await farm.submit(["fresh-install", "update", "restart"], new: "correct")
        try await farm.submit(["update", "restart"], new: "renamed-query")
        for (slot, title, step) in [
            ("sim-1", "seed-verify with legacy", 4), ("sim-2", "install correct over legacy", 6),
        ] {
            let assignment = try await farm.assignment(to: slot, number: (seen[slot] ?? 0) + 1)
            try farm.accept(assignment, on: slot)
            try farm.progress(assignment, on: slot, title, step, of: 11)
        }
    }

    /// JavaScript that names texts whose contrast with what is behind them is below 4.5 to 1.
    private static let faint = """
        (() => {
          const channels = (text) => text.match(/[\\d.]+/g).map(Number);
          const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
            .map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
            .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
          const ground = (element) => {
            for (let at = element; at; at = at.parentElement) {
              const color = channels(getComputedStyle(at).backgroundColor);
              if (color.length === 3 || color[3] > 0) return color;
            }
            return [255, 255, 255];
          };
          const faint = [];
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
            const pair = [light(channels(getComputedStyle(element).color)), light(ground(element))].sort((a, b) => b - a);
            const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
            if (contrast < 4.5) faint.push(`${walker.currentNode.data.trim()} (${contrast.toFixed(1)})`);
          }
          return faint.join("; ");
        })()
        """
}
