import BerthCoordinator
import Testing

@Suite("Reconnect schedule")
struct ReconnectScheduleTests {
    @Test("The bound of the pause doubles from 250 ms to 30 s and stays there")
    func growth() {
        var schedule = ReconnectSchedule()
        let pauses = (0..<10).map { _ in schedule.pause(afterConnectionOf: nil, chance: 1) }
        #expect(pauses == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        #expect(schedule.pause(afterConnectionOf: nil, chance: 0) == .zero)
        #expect(schedule.pause(afterConnectionOf: nil, chance: 0.5) == .seconds(15))
    }

    @Test("After a stable connection the first try is at once, after short ones it is not")
    func recovery() {
        var schedule = ReconnectSchedule()
        for _ in 0..<20 { _ = schedule.pause(afterConnectionOf: nil, chance: 1) }
        #expect(schedule.pause(afterConnectionOf: .seconds(60), chance: 1) == .zero)
        #expect(schedule.pause(afterConnectionOf: .seconds(1), chance: 1) == .seconds(0.5))
        #expect(schedule.pause(afterConnectionOf: .seconds(1), chance: 1) == .seconds(1))
        #expect(schedule.pause(afterConnectionOf: .seconds(60), chance: 1) == .zero)
        var fresh = ReconnectSchedule()
        #expect(fresh.pause(afterConnectionOf: .seconds(1), chance: 1) == .zero)
    }
}
