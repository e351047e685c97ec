import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// What devices notify, and when it is heard.
@Suite(.lab, .serialized, .timeLimit(.minutes(10))) struct NotificationTests {
    private static func notify(_ bytes: [UInt8]) -> DeviceAction {
        .notify(bytes, from: LabDevice.reply.characteristic, after: .zero)
    }

    private static func heard(_ values: [UInt8]...) -> [LinkEvent] {
        values.map { .notification($0, from: .reply) }
    }

    @Test("BLZ-12, BLZ-13 what is notified before a subscription or a write is answered is heard, all of it in order")
    func beforeTheAnswer() async throws {
        try await LabDevice.run {
            $0.answering = { request in
                switch request {
                case .subscribe: AttributeAnswer(after: [Self.notify([1]), Self.notify([2])])
                case .write(let bytes, _): AttributeAnswer(after: [Self.notify(bytes)])
                case .read: nil
                }
            }
            $0.reaction = { _ in [Self.notify([5]), Self.notify([5])] }
        } _: { stage in
            let link = try await stage.peripheral.openLink([.command: LabDevice.control, .reply: LabDevice.reply])
            let record = LinkRecord(link)
            try await link.write([4], to: .command)
            #expect(await record.next(5) == Self.heard([1], [2], [4], [5], [5]))
        }
    }

    @Test("BLZ-12 with a socket BlueZ loses what is notified before the subscription is answered")
    func beforeTheSocket() async throws {
        try await LabDevice.run {
            $0.answering = { request in
                if case .subscribe = request { AttributeAnswer(after: [Self.notify([1])]) } else { nil }
            }
            $0.reaction = { [Self.notify($0)] }
        } _: { stage in
            let reply = try await stage.characteristic(LabDevice.reply).path
            let (socket, _) = try await stage.client.acquire("AcquireNotify", at: reply)
            let link = try await stage.peripheral.openLink([.command: LabDevice.control])
            try await link.write([2], to: .command)
            #expect(socket.receive() == [2])
        }
    }

    @Test("a device's no to a subscription is told with its code, and does not last") func refusedSubscription()
        async throws
    {
        let refusals = Locked(1)
        try await LabDevice.run {
            $0.answering = { request in
                guard case .subscribe = request,
                    refusals.withLock({
                        $0 -= 1; return $0 >= 0
                    })
                else { return nil }
                return AttributeAnswer(.error(AttributeErrorCode(rawValue: 0x80)))
            }
            $0.reaction = { [Self.notify($0)] }
        } _: { stage in
            await #expect(throws: TransportError(.attribute(0x80), during: .subscribe)) {
                _ = try await stage.peripheral.openLink([.reply: LabDevice.reply])
            }
            let link = try await stage.peripheral.openLink([.command: LabDevice.control, .reply: LabDevice.reply])
            let record = LinkRecord(link)
            try await link.write([1], to: .command)
            #expect(await record.next(1) == Self.heard([1]))
        }
    }

    @Test("a subscription ends with its connection: the next is the device's own word") func subscribesAnew()
        async throws
    {
        let subscriptions = Locked(0)
        try await LabDevice.run {
            $0.answering = { request in
                if case .subscribe = request { subscriptions.withLock { $0 += 1 } }
                return nil
            }
            $0.reaction = { $0 == [0xFF] ? [.disconnect(after: .zero)] : [Self.notify($0)] }
        } _: { stage in
            var peripheral = stage.peripheral
            for round in 1...3 {
                let link = try await peripheral.openLink([.command: LabDevice.command, .reply: LabDevice.reply])
                #expect(subscriptions.withLock(\.self) == round)
                let record = LinkRecord(link)
                try await link.write([1], to: .command)
                #expect(await record.next(1) == Self.heard([1]))
                try await link.write([0xFF], to: .command)
                #expect(await record.next(1) == [.disconnected])
                await peripheral.disconnect()
                peripheral = try await stage.transport.connect(to: peripheral.address, timeout: .seconds(10))
            }
            await peripheral.disconnect()
        }
    }

    @Test("what a device notifies right before it ends the connection is heard") func lastWords() async throws {
        try await LabDevice.run {
            // As many as a connection event takes, and the end after it: a controller drops what waits.
            $0.reaction = { _ in (0..<UInt8(6)).map { Self.notify([$0]) } + [.disconnect(after: .milliseconds(10))] }
        } _: { stage in
            let link = try await stage.peripheral.openLink([.command: LabDevice.command, .reply: LabDevice.reply])
            let record = LinkRecord(link)
            try await link.write([1], to: .command)
            #expect(
                await record.next(7)
                    == (0..<UInt8(6)).map { .notification([$0], from: .reply) } + [.disconnected])
        }
    }

    @Test("BLZ-15 a characteristic that another program hears alone is left to it, until it closes its socket")
    func heldByAnother() async throws {
        try await LabDevice.run { stage in
            let path = try await stage.characteristic(LabDevice.reply).path
            var socket: FileDescriptor? = try await stage.client.acquire("AcquireNotify", at: path).socket
            await #expect(throws: TransportError(.held, during: .subscribe)) {
                _ = try await stage.peripheral.openLink([.reply: LabDevice.reply])
            }
            withExtendedLifetime(socket) {}
            socket = nil
            try await stage.client.wait { $0.characteristic(at: path)?.isNotifyAcquired == false }
            _ = try await stage.peripheral.openLink([.reply: LabDevice.reply])
        }
    }

    @Test("BLZ-15 where another program hears a characteristic too, BlueZ tells each value once for each of the two")
    func sharedWithAnother() async throws {
        try await LabDevice.run {
            $0.reaction = { [Self.notify($0)] }
        } _: { stage in
            let path = try await stage.characteristic(LabDevice.reply).path
            let other = try await BlueZClient()
            #expect(try await other.refusal("StartNotify", at: path) == nil)
            let link = try await stage.peripheral.openLink([.command: LabDevice.control, .reply: LabDevice.reply])
            let record = LinkRecord(link)
            try await link.write([1], to: .command)
            #expect(await record.next(2) == Self.heard([1], [1]))
            #expect(try await other.refusal("StopNotify", at: path) == nil)
            try await link.write([2], to: .command)
            try await link.write([3], to: .command)
            #expect(await record.next(2) == Self.heard([2], [3]))
        }
    }

    // The last one: bluetoothd dies when the connection ends.
    @Test("BlueZ does not answer AcquireNotify where the device says no, and takes it for acquired from then on")
    func refusedSocket() async throws {
        try await LabDevice.run {
            $0.answering = { request in
                if case .subscribe = request {
                    AttributeAnswer(.error(AttributeErrorCode(rawValue: 0x80)))
                } else {
                    nil
                }
            }
        } _: { stage in
            let reply = try await stage.characteristic(LabDevice.reply).path
            await #expect { _ = try await stage.client.acquire("AcquireNotify", at: reply) } throws: { error in
                (error as? DBusError)?.code == .timeout
            }
            #expect(
                try await stage.client.refusal("StartNotify", at: reply) == "NotPermitted: Notify acquired")
        }
    }
}
