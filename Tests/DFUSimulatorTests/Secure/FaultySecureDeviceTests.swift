import DFUProtocol
import DFUTransport
import Testing

@testable import DFUSimulator

@Suite struct FaultySecureDeviceTests {
    private func device(
        _ faults: SecureFault..., change: (inout SecureDevice.Settings) -> Void = { $0.startsInBootloader = true }
    ) -> FaultySecureDevice {
        var settings = SecureDevice.Settings()
        change(&settings)
        var device = FaultySecureDevice(SecureDevice(settings), faults: SecureFaultScript(faults))
        device.connect()
        return device
    }

    private let created: [UInt8] = [0x60, 0x01, 0x01]
    private let create = SecureDFU.Request.create(.command, size: 40).encoded

    @Test func aDroppedPacketIsMissing() {
        var device = device(.drop(SecureFaultPlace(.packet, 2)))
        _ = device.request(create)
        for _ in 0..<3 { _ = device.written([1, 2, 3, 4], to: .packet) }
        #expect(device.request([0x03]).notified.first?[3] == 8)
    }

    @Test func aDroppedRequestIsTakenAndNotAnswered() {
        var device = device(.drop(SecureFaultPlace(.request, 1, of: .create)))
        #expect(device.answer(.write(create, to: .controlPoint)) == AttributeAnswer())
        #expect(device.written(create, to: .controlPoint).isEmpty)
        #expect(device.request(create).notified == [created])
    }

    @Test func aDroppedAnswerIsOnlyNotHeard() {
        var device = device(.drop(SecureFaultPlace(.answer, 1, of: .create)))
        #expect(device.request(create).notified == [])
        #expect(device.request([0x04]).notified == [[0x60, 0x04, 0x08]])
    }

    @Test func anAnswerComesLater() {
        var device = device(.delay(SecureFaultPlace(.answer, 1), by: .seconds(3)))
        let actions = device.request(create)
        #expect(actions.contains(.notify(created, from: .controlPoint, after: .seconds(3))))
    }

    @Test func anAnswerComesTwice() {
        var device = device(.double(SecureFaultPlace(.answer, 1), after: .seconds(3)))
        let actions = device.request(create)
        #expect(actions.contains(.notify(created, from: .controlPoint, after: .zero)))
        #expect(actions.contains(.notify(created, from: .controlPoint, after: .seconds(3))))
        #expect(device.request(create).notified == [created])
    }

    @Test func aRequestIsAnsweredOtherwise() {
        var device = device(.answer(SecureFaultPlace(.request, 1, of: .execute), .result(0x0B, extended: 0x05)))
        _ = device.request(create)
        #expect(device.request([0x04]).notified == [[0x60, 0x04, 0x0B, 0x05]])
        #expect(device.request([0x04]).notified == [[0x60, 0x04, 0x08]])
    }

    @Test func anyBytesCanBeAnswered() {
        var device = device(.answer(SecureFaultPlace(.request, 1), .bytes([])))
        #expect(device.request([0x06, 0x01]).notified == [[]])
    }

    @Test func anErrorIsTheOnlyAnswerOfAJump() {
        var device = device(.error(SecureFaultPlace(.request, 1, of: .enter), code: 0x0E)) { _ in }
        let answer = device.answer(.write([0x01], to: .buttonless))
        #expect(answer.outcome == .error(AttributeErrorCode(rawValue: 0x0E)))
        #expect(answer.before.last == .reboot(after: .milliseconds(100), offAir: .milliseconds(500)))
    }

    @Test func theLinkIsLostWithAByte() {
        var device = device(.disconnect(SecureFaultPlace(.byte, 5), after: .milliseconds(5)))
        _ = device.request(create)
        #expect(device.written([1, 2, 3, 4], to: .packet).isEmpty)
        #expect(device.written([5, 6, 7, 8], to: .packet) == [.disconnect(after: .milliseconds(5))])
        #expect(device.request([0x03]).notified.first?[3] == 4)
    }

    @Test func theLinkIsLostInThePlaceOfAnAnswer() {
        var device = device(.disconnect(SecureFaultPlace(.answer, 1, of: .create), after: .zero))
        #expect(device.request(create).first == .disconnect(after: .zero))
    }

    @Test func aSilenceEndsAfterItsTime() {
        var device = device(.silence(SecureFaultPlace(.request, 1), lasting: .seconds(9)))
        let answer = device.answer(.write(create, to: .controlPoint))
        #expect(answer.outcome == .silence)
        #expect(device.answer(.write(create, to: .controlPoint)).outcome == .silence)
        guard case .wake(let token, after: .seconds(9)) = answer.before.first else {
            Issue.record("it ends")
            return
        }
        #expect(device.woken(token).isEmpty)
        #expect(device.request(create).notified == [created])
    }

    @Test func aPowerCycleForgetsTheWishForTheBootloader() {
        var device = device(.powerCycle(SecureFaultPlace(.answer, 1, of: .enter), offAir: .seconds(1))) { _ in }
        #expect(device.request([0x01], to: .buttonless) == [.reboot(after: .zero, offAir: .seconds(1))])
        device.rebooted()
        #expect(!device.device.isInBootloader)
    }

    @Test func theChecksumIsAlwaysZero() {
        var device = device(.zeroChecksum)
        _ = device.request(create)
        _ = device.written([1, 2, 3, 4], to: .packet)
        #expect(device.request([0x03]).notified == [[0x60, 0x03, 0x01, 0, 0, 0, 0, 0, 0, 0, 0]])
    }

    @Test func receiptsAreNotSent() {
        var device = device(.noReceipts)
        _ = device.request([0x02, 1, 0])
        _ = device.request(create)
        #expect(device.written([1, 2, 3, 4], to: .packet).isEmpty)
        #expect(device.request([0x03]).notified.count == 1)
    }

    @Test func whileItErasesPacketsAreLost() {
        var device = device(.slowErase(.milliseconds(350), objects: 1))
        let image = SampleImage()
        _ = device.request(SecureDFU.Request.create(.command, size: UInt32(image.initPacket.count)).encoded)
        _ = device.written(image.initPacket, to: .packet)
        _ = device.request([0x04])
        let actions = device.request(SecureDFU.Request.create(.data, size: 4096).encoded)
        _ = device.written([1, 2, 3, 4], to: .packet)
        guard case .wake(let token, after: .milliseconds(350))? = actions.last else {
            Issue.record("it erases")
            return
        }
        _ = device.woken(token)
        _ = device.written([1, 2, 3, 4], to: .packet)
        #expect(device.request([0x03]).notified.first?[3] == 4)
        let again = device.request(SecureDFU.Request.create(.data, size: 4096).encoded)
        guard case .wake(let next, _)? = again.last else {
            Issue.record("it erases again")
            return
        }
        _ = device.woken(next)
        _ = device.written([UInt8](repeating: 0x5A, count: 4096), to: .packet)
        _ = device.request([0x04])
        let second = device.request(SecureDFU.Request.create(.data, size: 904).encoded)
        #expect(second == [.notify(created, from: .controlPoint, after: .zero)])
    }

    @Test func theOldAdvertisementIsHeardForAWhile() {
        var device = device(.oldAdvertisement(.milliseconds(800))) { _ in }
        _ = device.request([0x01], to: .buttonless)
        device.rebooted()
        guard case .wake(let token, after: .milliseconds(800))? = device.started().last else {
            Issue.record("it ends")
            return
        }
        #expect(device.advertisements.map(\.address) == ["C0:FF:EE:00:00:50", "C0:FF:EE:00:00:51"])
        _ = device.woken(token)
        #expect(device.advertisements.map(\.address) == ["C0:FF:EE:00:00:51"])
    }

    // MARK: Scripts

    @Test func aScriptIsRead() throws {
        let script = try SecureFaultScript(
            json: Array(
                """
                [{"fault": "drop", "packet": 40, "count": 2}, {"fault": "drop", "answer": 1, "op": "receipt"},
                 {"fault": "answer", "request": 1, "op": "execute", "result": "0x0B", "extended": 5},
                 {"fault": "answer", "request": 2, "bytes": "60 06 01"},
                 {"fault": "disconnect", "byte": 7}, {"fault": "silence", "packet": 1},
                 {"fault": "powerCycle", "request": 3, "milliseconds": 10}, {"fault": "zeroChecksum"},
                 {"fault": "noReceipts"}, {"fault": "slowErase", "milliseconds": 350},
                 {"fault": "oldAdvertisement", "milliseconds": 800}, {"fault": "error", "request": 1, "code": "0x0E"},
                 {"fault": "delay", "answer": 1, "milliseconds": 5, "count": "forever"},
                 {"fault": "double", "answer": 2}]
                """.utf8))
        #expect(
            script.faults == [
                .drop(SecureFaultPlace(.packet, 40, count: 2)), .drop(SecureFaultPlace(.answer, 1, of: .receipt)),
                .answer(SecureFaultPlace(.request, 1, of: .execute), .result(0x0B, extended: 5)),
                .answer(SecureFaultPlace(.request, 2), .bytes([0x60, 0x06, 0x01])),
                .disconnect(SecureFaultPlace(.byte, 7), after: .zero),
                .silence(SecureFaultPlace(.packet, 1), lasting: nil),
                .powerCycle(SecureFaultPlace(.request, 3), offAir: .milliseconds(10)), .zeroChecksum, .noReceipts,
                .slowErase(.milliseconds(350), objects: 1), .oldAdvertisement(.milliseconds(800)),
                .error(SecureFaultPlace(.request, 1), code: 0x0E),
                .delay(SecureFaultPlace(.answer, 1, count: .max), by: .milliseconds(5)),
                .double(SecureFaultPlace(.answer, 2), after: .zero),
            ])
    }

    @Test(arguments: [
        ("[{}]", "entry 1: \"fault\" is missing"),
        (#"[{"fault": "drop"}]"#, "entry 1: it wants one of \"packet\", \"request\", \"answer\""),
        (
            #"[{"fault": "drop", "packet": 1, "answer": 1}]"#,
            "entry 1: it wants one of \"packet\", \"request\", \"answer\""
        ),
        (#"[{"fault": "delay", "answer": 1}]"#, "entry 1: \"milliseconds\" is missing"),
        (#"[{"fault": "answer", "request": 1}]"#, "entry 1: \"result\" is missing"),
        (
            #"[{"fault": "answer", "request": 1, "bytes": "6"}]"#,
            "entry 1: \"bytes\" wants up to 20 bytes of two digits, as \"60 04 01\""
        ),
        (#"[{"fault": "answer", "packet": 1, "result": 1}]"#, "entry 1: it wants \"request\""),
        (
            #"[{"fault": "drop", "packet": 1, "op": "create"}]"#,
            "entry 1: \"op\" is \"create\"; with \"request\" or \"answer\" it can be create, setReceipts, checksum, "
                + "execute, select, abort, enter, setName"
        ),
        (#"[{"fault": "zeroChecksum", "packet": 1}]"#, "entry 1: \"packet\" is no member of \"zeroChecksum\""),
    ])
    func aScriptThatIsWrongSaysWhere(_ script: String, _ message: String) {
        #expect(throws: FaultScriptError(message: message)) { try SecureFaultScript(json: Array(script.utf8)) }
    }
}

extension FaultySecureDevice {
    fileprivate mutating func connect() {
        connected()
        for characteristic in services.flatMap(\.characteristics)
        where !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
            _ = answer(.subscribe(characteristic.uuid))
        }
    }

    fileprivate mutating func request(
        _ bytes: [UInt8], to characteristic: BluetoothUUID = .controlPoint
    ) -> [DeviceAction] {
        let answer = answer(.write(bytes, to: characteristic))
        guard case .success = answer.outcome else { return answer.before }
        return answer.before + written(bytes, to: characteristic)
    }
}

extension [DeviceAction] {
    fileprivate var notified: [[UInt8]] {
        compactMap { action in
            guard case .notify(let bytes, _, _) = action else { return nil }
            return bytes
        }
    }
}
