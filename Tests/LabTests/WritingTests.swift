import DFUProtocol
import DFUSimulator
import DFUTransport
import Glibc
import TestSupport
import Testing

/// The two ways to write, sockets and calls, and how much fits.
@Suite(.lab, .serialized, .timeLimit(.minutes(10))) struct WritingTests {
    @Test("a request does not overtake what was written to the socket before") func order() async throws {
        try await LabDevice.run { stage in
            let link = try await stage.peripheral.openLink([.command: LabDevice.command, .reply: LabDevice.control])
            var sent: [[UInt8]] = []
            for round in 0..<UInt8(5) {
                for number in 0..<UInt8(40) {
                    sent.append([round, number])
                    try await link.write([round, number], to: .command)
                }
                sent.append([round, 0xFF])
                try await link.write([round, 0xFF], to: .reply)
            }
            #expect(await stage.record.untilWritten(sent.count) == sent)
        }
    }

    @Test("BlueZ takes a call when it has read all sockets, even where it finds both at once") func busyDaemon()
        async throws
    {
        try await LabDevice.run { stage in
            let link = try await stage.peripheral.openLink([.command: LabDevice.command, .reply: LabDevice.control])
            let daemon = try #require(Int32(try await Program.run(["pidof", "bluetoothd"]).output.filter(\.isNumber)))
            kill(daemon, SIGSTOP)
            let records = (0..<UInt8(100)).map { [$0] }
            for record in records { try await link.write(record, to: .command) }
            async let written: Void = link.write([0xFF], to: .reply)
            // The call is on the bus when this is answered.
            _ = try await stage.client.bus.call(
                .call(
                    "GetId", of: DBusConnection.busName, at: DBusConnection.busPath,
                    destination: DBusConnection.busName))
            kill(daemon, SIGCONT)
            try await written
            #expect(await stage.record.untilWritten(101) == records + [[0xFF]])
        }
    }

    @Test("BLZ-01, BLZ-02 what fits one write, by the MTU", arguments: [(23, 20), (64, 61), (247, 244), (517, 512)])
    func longestWrite(mtu: Int, length: Int) async throws {
        try await LabDevice.run(radio: RadioModel(dataLength: 251, mtu: mtu, packetsPerEvent: 6)) { stage in
            // It is never 23 at first: BlueZ 5.66 shows the objects when the MTU is exchanged.
            #expect(try await stage.characteristic(LabDevice.command).mtu == mtu)
            for binding in [LabDevice.command, LabDevice.control] {
                let before = stage.record.written.count
                let link = try await stage.peripheral.openLink([.command: binding])
                #expect(link.maximumWriteLength == length)
                let value = [UInt8](repeating: 7, count: length)
                try await link.write(value, to: .command)
                #expect(await stage.record.untilWritten(before + 1).last == value)
            }
        }
    }

    @Test("BLZ-02 what is too long vanishes in the socket, and by a call it is refused or sent in parts")
    func tooLong() async throws {
        try await LabDevice.run { stage in
            let command = try await stage.characteristic(LabDevice.command).path
            let control = try await stage.characteristic(LabDevice.control).path
            let (socket, mtu) = try await stage.client.acquire("AcquireWrite", at: command)
            #expect(mtu == 247)
            for length in [245, 513, 244] { socket.send([UInt8](repeating: 7, count: length)) }
            #expect(await stage.record.untilWritten(1).map(\.count) == [244])
            func write(_ length: Int, _ type: String) async throws -> String? {
                try await stage.client.write([UInt8](repeating: 8, count: length), as: type, to: control)
            }
            #expect(try await write(245, "command") == "Failed: Failed to initiate write")
            #expect(try await write(245, "request") == nil)
            #expect(try await write(513, "request") == "InvalidArguments: Invalid Length")
            #expect(try await stage.client.write([1], as: "command", to: command) == "NotPermitted: Write acquired")
            #expect(stage.record.written.map(\.count) == [244, 245])
        }
    }

    @Test("BLZ-27 BlueZ takes what the link is slow to carry, and nothing of it is lost: 200 KiB at a packet an event")
    func slowLink() async throws {
        let radio = RadioModel(interval: .milliseconds(30), dataLength: 251, mtu: 247, packetsPerEvent: 1)
        try await LabDevice.run(radio: radio) { stage in
            let link = try await stage.peripheral.openLink([.command: LabDevice.command, .reply: LabDevice.control])
            let bytes = Firmware.bytes(200 << 10)
            let packets = stride(from: 0, to: bytes.count, by: 244).map {
                Array(bytes[$0..<min($0 + 244, bytes.count)])
            }
            for packet in packets { try await link.write(packet, to: .command) }
            // The queue is BlueZ's own, and has no end: the radio has carried next to nothing yet.
            #expect(stage.record.written.count < 100)
            try await link.write([0xFF], to: .reply)
            #expect(await stage.record.untilWritten(packets.count + 1) == packets + [[0xFF]])
        }
    }

    @Test("BLZ-15 a characteristic that another program writes to is left to it, until it leaves")
    func heldByAnother() async throws {
        try await LabDevice.run { stage in
            let path = try await stage.characteristic(LabDevice.command).path
            var socket: FileDescriptor? = try await stage.client.acquire("AcquireWrite", at: path).socket
            await #expect(throws: TransportError(.held, during: .write)) {
                _ = try await stage.peripheral.openLink([.command: LabDevice.command])
            }
            withExtendedLifetime(socket) {}
            socket = nil
            try await stage.client.wait { $0.characteristic(at: path)?.isWriteAcquired == false }
            let link = try await stage.peripheral.openLink([.command: LabDevice.command])
            try await link.write([1], to: .command)
            #expect(await stage.record.untilWritten(1) == [[1]])
        }
    }

    @Test("BLZ-14 the link is lost in a burst: writing ends with that, and what was taken and not sent is lost")
    func lostLink() async throws {
        let radio = RadioModel(interval: .milliseconds(30), dataLength: 251, mtu: 247, packetsPerEvent: 1)
        try await LabDevice.run(radio: radio) { stage in
            let link = try await stage.peripheral.openLink([.command: LabDevice.command])
            let heard = LinkRecord(link)
            for number in 0..<UInt8(200) { try await link.write([number], to: .command) }
            let arrived = await stage.record.untilWritten(20).count
            stage.air.loseLink(to: stage.peripheral.address)
            #expect(await heard.next(1) == [.disconnected])
            await #expect(throws: TransportError(.notConnected, during: .write)) {
                try await link.write([200], to: .command)
            }
            #expect((arrived..<200).contains(stage.record.written.count))
        }
    }
}
