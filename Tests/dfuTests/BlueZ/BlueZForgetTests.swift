import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// `dfu forget` over a bus.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BlueZForgetTests {
    private static let devices = [
        AdvertisedDevice(GATTDevice("C0:FF:EE:00:00:10"), name: "One"),
        AdvertisedDevice(GATTDevice("C0:FF:EE:01:00:10"), name: "Two"),
    ]

    /// Has BlueZ know the devices, and not hear them any more.
    private static func known(on bench: AirBench) async throws {
        try await bench.call("StartDiscovery")
        try await bench.wait { $0.devices().count == devices.count }
        try await bench.call("StopDiscovery")
    }

    @Test("What BlueZ knows is forgotten, by address or name", arguments: ["c0:ff:ee:00:00:10", "One", "ee:00:00:10"])
    func forget(_ id: String) async throws {
        try await AirBench.run(Self.devices) { bench in
            try await Self.known(on: bench)
            #expect(
                await bench.dfu("forget", id)
                    == .init(output: "C0:FF:EE:00:00:10: forgotten; there was no bond\n", errors: "", status: 0))
            #expect(try await bench.daemon().tree.devices().map(\.name) == ["Two"])
        }
    }

    @Test("What BlueZ does not know is 68")
    func unknown() async throws {
        try await AirBench.run(Self.devices) { bench in
            try await Self.known(on: bench)
            let line = "BlueZ does not know it, so there is nothing to forget"
            #expect(
                await bench.dfu("forget", "C0:FF:EE:00:00:0F") == .failed(68, "dfu: C0:FF:EE:00:00:0F: \(line)"))
            #expect(try await bench.daemon().tree.devices().count == 2)
        }
    }

    @Test("What fits two devices is 64, and neither is forgotten")
    func ambiguous() async throws {
        try await AirBench.run(Self.devices) { bench in
            try await Self.known(on: bench)
            let line = "2 devices fit: C0:FF:EE:00:00:10 One, C0:FF:EE:01:00:10 Two; name one by its full address"
            #expect(await bench.dfu("forget", "00:10") == .failed(64, "dfu: 00:10: \(line)"))
            #expect(try await bench.daemon().tree.devices().count == 2)
        }
    }

    @Test("With --json there is a result")
    func result() async throws {
        try await AirBench.run(Self.devices) { bench in
            try await Self.known(on: bench)
            let events = try await bench.dfu("forget", "Two", "--json").events()
            try #require(events.map(\.name) == ["start", "result"])
            #expect(events[1].text("device") == "C0:FF:EE:01:00:10")
            #expect(events[1].text("id") == "Two")
            #expect(events[1]["ok"] == .boolean(true))
        }
    }
}
