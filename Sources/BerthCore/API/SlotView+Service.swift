extension SlotView {
    /// The same slot with what takes it out of use and who has reserved it, of all such states and reservations.
    package func with(services all: [ServiceState], reservations: [Reservation]) -> SlotView {
        let services = [ServiceScope.slot(name), .host(host), .farm].compactMap { scope in
            all.first { $0.scope == scope }
        }
        let own = reservations.filter { $0.slot == name }
        let state: State = state == .idle && !services.isEmpty ? .held : state
        return SlotView(
            name: name,
            host: host,
            device: device,
            state: state,
            attempt: attempt,
            reason: reason ?? services.first.map { OutcomeCause($0.state.rawValue, $0.description) },
            kept: kept,
            places: places,
            services: services.isEmpty ? nil : services,
            reservations: own.isEmpty ? nil : own
        )
    }
}
