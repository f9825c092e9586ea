import BerthCoordinator
import BerthCore
import BerthTestSupport
import Testing

/// What the farm makes of what agents say that they keep.
@Suite(.timeLimit(.minutes(3)))
struct KeptDeviceTests {
    private static let udid = "6F0C8D0E-59B0-4D0C-9B8E-0D5B3C1A7E11"

    private func keeping(_ refusal: String?, devices: Bool = true) -> SlotKeeping {
        SlotKeeping(
            devices: devices
                ? [KeptDevice(udid: Self.udid, stage: .preserved, run: "r-1", attempt: "a-1", since: 5)] : [],
            refusal: refusal.map { OutcomeCause($0, "see to it") },
            places: SlotPlaces(
                slot: "a",
                machine: "m",
                user: "u",
                agent: "/berth-agent",
                state: "/state",
                xcrun: "/xcrun",
                lock: "/lock"
            )
        )
    }

    private func released(_ farm: ServedFarm, number: Int) async throws -> DeviceRelease {
        func orders() -> [DeviceRelease] {
            farm.host.messages(to: "a").compactMap { if case .release(let order) = $0 { order } else { nil } }
        }
        try await eventually("order \(number) reaches the agent") { orders().count >= number }
        return orders()[number - 1]
    }

    private func slot(_ farm: ServedFarm) async throws -> SlotView? {
        try await farm.value([HostView].self, "/v1/hosts").first?.slots.first
    }

    @Test func aSlotThatKeepsTooMuchIsOfferedNothingUntilItSaysOtherwise() async throws {
        try await ServedFarm.run { farm in
            try await farm.host.greet()
            try farm.host.join("a", keeping: keeping("preserved-budget-full"))
            try await eventually("the slot is held") { try await slot(farm)?.state == .held }
            #expect(try await slot(farm)?.reason?.code == "preserved-budget-full")
            // Another slot gets what the held one would have been the first to get, and then is busy.
            try farm.host.join("b", keeping: keeping(nil, devices: false))
            try await farm.submit(["update"])
            _ = try await farm.assignment(to: "b")
            try await farm.submit(["update"])
            #expect(farm.host.assignments(to: "a").isEmpty)

            async let answer = farm.post("/v1/devices/\(Self.udid.lowercased())/release", ReleaseRequestBody())
            let order = try await released(farm, number: 1)
            #expect(order.udid == Self.udid && order.by == "test" && order.unclean == nil)
            try farm.host.say(
                .heartbeat(Heartbeat(sequence: 1, running: nil, keeping: keeping(nil, devices: false))),
                route: "a"
            )
            try farm.host.say(
                .released(DeviceReleased(request: order.request, udid: Self.udid, refusal: nil)),
                route: "a"
            )
            #expect(try await answer.status == 200)
            #expect(try await farm.value([DeviceView].self, "/v1/devices").isEmpty)
            #expect(try await farm.assignment(to: "a").pins.caseName == "update")
        }
    }

    @Test func anOrderThatIsRefusedOrCannotReachItsAgentSaysSo() async throws {
        try await ServedFarm.run { farm in
            #expect(try await farm.post("/v1/devices/none/release", ReleaseRequestBody()).status == 404)
            try await farm.host.greet()
            try farm.host.join("a", keeping: keeping(nil))
            try await eventually("the device is listed") {
                try await farm.value([DeviceView].self, "/v1/devices").first?.device.udid == Self.udid
            }
            let path = "/v1/devices/\(Self.udid)/release"
            async let refused = farm.post(path, ReleaseRequestBody(unclean: "because"))
            let order = try await released(farm, number: 1)
            #expect(order.unclean == "because")
            let cause = OutcomeCause("cleanup-crashed", "the app ended")
            try farm.host.say(
                .released(DeviceReleased(request: order.request, udid: Self.udid, refusal: cause)),
                route: "a"
            )
            let refusal = try await refused
            #expect(refusal.status == 409 && refusal.text.contains("cleanup-crashed"))
            #expect(try await farm.value(ReleaseView.self, path).state == .refused)

            // Another agent's word for the device counts nothing; a cut connection ends the waiting.
            async let cut = farm.post(path, ReleaseRequestBody())
            let second = try await released(farm, number: 2)
            try farm.host.join("b")
            try farm.host.say(
                .released(DeviceReleased(request: second.request, udid: Self.udid, refusal: nil)),
                route: "b"
            )
            try farm.host.say(.slotLeft(SlotLeft(slot: "a", reason: "killed")))
            let answer = try await cut
            #expect(answer.status == 409 && answer.text.contains("slot-left"), "\(answer.text)")
            let view = try await farm.value([DeviceView].self, "/v1/devices").first
            #expect(view?.offlineSince != nil && view?.device.udid == Self.udid)
            let offline = try await farm.post(path, ReleaseRequestBody())
            #expect(offline.status == 503 && offline.text.contains("slot-offline"))
        }
    }
}
