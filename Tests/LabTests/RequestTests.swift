import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// What becomes of what a device has to answer.
@Suite(.lab, .serialized, .timeLimit(.minutes(10))) struct RequestTests {
    enum Kind: CaseIterable {
        case read, write, subscribe

        var action: BlueZAction {
            switch self {
            case .read: .read
            case .write: .write
            case .subscribe: .subscribe
            }
        }

        func perform(on peripheral: any Peripheral) async throws(TransportError) {
            let control = LabDevice.control
            switch self {
            case .read: _ = try await peripheral.read(control.characteristic, of: control.service)
            case .write: try await peripheral.openLink([.command: control]).write([1], to: .command)
            case .subscribe: _ = try await peripheral.openLink([.reply: LabDevice.reply])
            }
        }
    }

    private static func failure(of kind: Kind, on peripheral: any Peripheral) async -> TransportError? {
        do throws(TransportError) {
            try await kind.perform(on: peripheral)
            return nil
        } catch {
            return error
        }
    }

    @Test("a device's no is told with its code, and the connection stays", arguments: Kind.allCases)
    func refusals(kind: Kind) async throws {
        let code = Locked<UInt8>(0)
        try await LabDevice.run {
            $0.answering = { _ in AttributeAnswer(.error(AttributeErrorCode(rawValue: code.withLock(\.self)))) }
        } _: { stage in
            for number: UInt8 in [
                0x01, 0x02, 0x03, 0x04, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0D, 0x0E, 0x10, 0x11, 0x12, 0x13, 0x80, 0x9F,
                0xFC,
                0xFD, 0xFE, 0xFF,
            ] {
                code.withLock { $0 = number }
                let failure = await Self.failure(of: kind, on: stage.peripheral)
                #expect(failure == TransportError(.attribute(number), during: kind.action))
            }
            // BlueZ's word for Request Not Supported is that for what it does not support itself.
            code.withLock { $0 = 0x06 }
            #expect(
                await Self.failure(of: kind, on: stage.peripheral)
                    == TransportError(.notSupported, during: kind.action))
        }
    }

    @Test("a device that does not answer: BlueZ waits for 30 s and ends the connection", arguments: Kind.allCases)
    func silence(kind: Kind) async throws {
        let isSilent = Locked(true)
        try await LabDevice.run {
            $0.answering = { _ in isSilent.withLock(\.self) ? AttributeAnswer(.silence) : nil }
        } _: { stage in
            let begin = ContinuousClock.now
            #expect(await Self.failure(of: kind, on: stage.peripheral)?.code == .timeout)
            #expect(begin.duration(to: .now) >= .seconds(30))
            isSilent.withLock { $0 = false }
            await stage.air.untilDisconnected(stage.peripheral.address)
            let peripheral = try await stage.transport.connect(to: stage.peripheral.address, timeout: .seconds(20))
            #expect(await Self.failure(of: kind, on: peripheral) == nil)
            await peripheral.disconnect()
        }
    }

    @Test(
        "BLZ-14 a request that the end of the connection leaves open has lost it", arguments: Kind.allCases,
        [false, true])
    func lostConnection(kind: Kind, isWithoutAWord: Bool) async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        try await LabDevice.run {
            $0.answering = { _ in
                asked.continuation.yield()
                return AttributeAnswer(.silence, after: isWithoutAWord ? [] : [.disconnect(after: .zero)])
            }
        } _: { stage in
            async let failure = Self.failure(of: kind, on: stage.peripheral)
            for await _ in asked.stream { break }
            if isWithoutAWord { stage.air.loseLink(to: stage.peripheral.address) }
            #expect(await failure == TransportError(.notConnected, during: kind.action))
        }
    }
}
