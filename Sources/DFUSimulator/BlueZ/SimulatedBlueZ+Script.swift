extension SimulatedBlueZ {
    /// Has a script's faults happen, whose time begins now.
    ///
    /// - Parameter closeBus: Ends the bus; called where the script wants it.
    package func play(_ script: BlueZFaultScript, closingBus closeBus: @escaping @Sendable () -> Void) {
        for fault in script.faults {
            guard let bytes = fault.bytes else {
                begin(fault, closeBus)
                continue
            }
            arrivals.watch(for: bytes, at: fault.device) { [weak self] in
                self?.onThread { $0.begin(fault, closeBus) }
            }
        }
    }

    private func begin(_ fault: BlueZFault, _ closeBus: @escaping @Sendable () -> Void) {
        guard fault.delay > .zero else { return perform(fault.kind, closeBus) }
        after(fault.delay) { $0.perform(fault.kind, closeBus) }
    }

    private func perform(_ fault: BlueZFault.Kind, _ closeBus: @Sendable () -> Void) {
        switch fault {
        case .fail(let method, let error?, let times): fail(method, times: times, with: error)
        case .fail(let method, nil, let times): ignore(method, times: times)
        case .failConnects(let text, let shown, let times): failConnects(times: times, with: text, shown: shown)
        case .unplug(let adapter): unplug(adapter)
        case .plugIn(let adapter): if !hasAdapter(adapter) { plugIn(SimulatedAdapter(adapter)) }
        case .power(let isOn, let adapter): setPowered(isOn, adapter: adapter)
        case .block(let isBlocked, let adapter): setBlocked(isBlocked, adapter: adapter)
        case .restart(let delay): restart(after: delay)
        case .closeBus: closeBus()
        }
    }

    private func hasAdapter(_ name: String) -> Bool { adapters.values.contains { $0.configuration.name == name } }

    private func restart(after delay: Duration) {
        guard isStarted else { return }
        Task { [weak self] in
            await self?.stop()
            await self?.after(delay) { blueZ in
                // It fails only where the bus is gone.
                Task { try? await blueZ.start() }
            }
        }
    }
}
