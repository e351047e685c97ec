extension BlueZCentral {
    /// See `Transport.find`.
    func find(_ hints: [DeviceHint], within limit: Duration) async throws(TransportError) -> String {
        // Another listener's, or another program's, discovery may have heard these long ago.
        let known = Dictionary(uniqueKeysWithValues: devices.filter(\.isHeard).map { ($0.path, $0) })
        let begin = ContinuousClock.now
        let search = Search(hints: hints, known: known, begin: begin)
        // Each stretch begins a discovery anew: so what is taken then has been heard then.
        let ends = Set(hints.map(\.patience).filter { $0 > .zero && $0 < limit }).sorted() + [limit]
        for end in ends {
            let left = max(end - begin.duration(to: .now), .zero)
            let devices = try await scan(for: left) { search.result(among: $0) != nil }
            if let address = search.result(among: devices) { return address }
        }
        throw TransportError(.notFound, message: "it was not heard again within \(limit.inSeconds)")
    }

    /// What is looked for, and what does not count.
    private struct Search: Sendable {
        let hints: [DeviceHint]
        /// As they were heard before.
        let known: [DBusObjectPath: BlueZDevice]
        let begin: ContinuousClock.Instant

        /// The address of a device that was heard since, and fits.
        func result(among devices: [BlueZDevice]) -> String? {
            let elapsed = begin.duration(to: .now)
            let heard = devices.filter { $0.isHeard && $0 != known[$0.path] }
            for hint in hints {
                let fitting = heard.first { device in
                    hint.fits(
                        address: device.address, name: device.advertisedName ?? device.name, services: device.services,
                        after: elapsed)
                }
                if let fitting { return fitting.address }
            }
            return nil
        }
    }
}
