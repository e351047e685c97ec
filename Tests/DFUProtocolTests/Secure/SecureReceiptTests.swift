import DFUProtocol
import Testing

/// Receipts look like the answers to `checksum`, so each must be taken for what it is.
@Suite struct SecureReceiptTests {
    private static let image = SecureSample.image(4096 * 3)

    @Test("a receipt at an object's end stands for its checksum") func exactEnd() {
        var bench = SecureBench(SecureSample.device(for: Self.image), receipts: .every(17))
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.requests.map { $0[0] } == [2, 6, 1, 3, 4, 6, 2, 1, 4, 1, 4, 1, 4])
    }

    @Test("a wrong receipt at an object's end does not") func wrongReceiptAtTheEnd() {
        var bench = SecureBench(SecureSample.device(for: Self.image), receipts: .every(17))
        var receipts = 0
        bench.tamper = { _, isRequest, answers in
            guard !isRequest, !answers.isEmpty else { return }
            receipts += 1
            if receipts == 2 { answers[0][10] ^= 1 }
        }
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.statistics.objectsResent == 1)
    }

    @Test("of an object that is sent once more the checksum is asked for") func onceMore() {
        var device = SecureSample.device(for: Self.image)
        device.lostPackets = [18]
        var bench = SecureBench(device, receipts: .every(17))
        #expect(bench.update(Self.image) == .success(.installed))
        let creations = bench.requests.indices.filter { bench.requests[$0].prefix(2) == [1, 2] }
        #expect(creations.count == 4)
        #expect(bench.requests[creations[1]...creations[2]].contains([3]))
    }

    @Test("a receipt of a packet that was dropped", arguments: [1, 4, 17])
    func droppedPacket(interval: Int) {
        var device = SecureSample.device(for: Self.image)
        device.lostPackets = [18]
        var bench = SecureBench(device, receipts: .every(interval))
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.statistics.objectsResent == 1)
    }

    @Test("receipts with an error", arguments: [0x03, 0x08] as [UInt8])
    func errors(code: UInt8) {
        var bench = SecureBench(SecureSample.device(for: Self.image), receipts: .every(4))
        var receipts = 0
        bench.tamper = { _, isRequest, answers in
            guard !isRequest, !answers.isEmpty else { return }
            receipts += 1
            if receipts == 3 { answers = [[0x60, 0x03, code]] }
        }
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.statistics.objectsResent == 1)
    }

    @Test("a receipt that is doubled, at once or behind the next request", arguments: [1, 4, 17], [true, false])
    func doubled(interval: Int, isAtOnce: Bool) {
        var bench = SecureBench(SecureSample.device(for: Self.image), receipts: .every(interval))
        bench.latency = .milliseconds(10)
        var last: [UInt8]?
        bench.tamper = { _, isRequest, answers in
            if isRequest {
                if !isAtOnce, let receipt = last { answers.insert(receipt, at: 0) }
                last = nil
            } else if let receipt = answers.first {
                last = receipt
                if isAtOnce { answers.append(receipt) }
            }
        }
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.links == 1)
        #expect(bench.statistics.objectsResent == 0)
    }

    @Test("a receipt of an earlier object") func ofAnEarlierObject() {
        var bench = SecureBench(SecureSample.device(for: Self.image), receipts: .every(4))
        var first: [UInt8]?
        bench.tamper = { _, isRequest, answers in
            guard !isRequest, let receipt = answers.first else { return }
            if let first { answers.insert(first, at: 0) } else { first = receipt }
        }
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.statistics.objectsResent == 0)
        #expect(bench.statistics.droppedAnswers == 11)
    }

    @Test("a single receipt that does not come") func oneMissing() {
        var bench = SecureBench(SecureSample.device(for: Self.image), receipts: .every(4))
        var receipts = 0
        bench.tamper = { _, isRequest, answers in
            guard !isRequest, !answers.isEmpty else { return }
            receipts += 1
            if receipts == 6 { answers = [] }
        }
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(!bench.learnt.sendsNoReceipts)
        #expect(bench.statistics.objectsResent == 0)
        #expect(bench.now < .seconds(4))
    }

    @Test("receipts that the device does not want to send", arguments: [0x02, 0x03] as [UInt8])
    func refused(code: UInt8) {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.tamper = { bytes, isRequest, answers in
            if isRequest, bytes[0] == 2 { answers = [[0x60, 2, code]] }
        }
        bench.device.sendsReceipts = false
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.now < .seconds(1))
    }

    @Test("an interval that an earlier host left is switched off first") func leftByAnother() {
        var device = SecureSample.device(for: Self.image)
        _ = device.requested([2, 1, 0])
        var bench = SecureBench(device, maximumWriteLength: 20, receipts: SecureDFU.Parameters.Receipts.none)
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.statistics.receipts == 0)
        #expect(bench.statistics.droppedAnswers == 0)
    }
}
