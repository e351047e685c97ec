import DFUProtocol
import Testing

@Suite struct SecureTransferTests {
    @Test func theRequestsOfAnUpdate() {
        let image = SecureSample.image(10_000)
        var bench = SecureBench(SecureSample.device(for: image), receipts: SecureDFU.Parameters.Receipts.none)
        #expect(bench.update(image) == .success(.installed))
        #expect(bench.device.installed == image.firmware)
        #expect(
            bench.requests == [
                [2, 0, 0], [6, 1], [1, 1, 132, 0, 0, 0], [3], [4],
                [6, 2], [1, 2, 0, 16, 0, 0], [3], [4], [1, 2, 0, 16, 0, 0], [3], [4], [1, 2, 16, 7, 0, 0], [3], [4],
            ])
        #expect(
            bench.packetLengths
                == [132] + Array(repeating: 244, count: 16) + [192] + Array(repeating: 244, count: 16) + [192]
                + Array(repeating: 244, count: 7) + [100])
        #expect(bench.statistics.objectsExecuted == 4)
        #expect(bench.statistics.bytesSent == 10_132)
        #expect(bench.learnt.pace != nil)
    }

    @Test(
        "packets are whole words", arguments: [(4, 4), (7, 4), (20, 20), (22, 20), (182, 180), (244, 244), (247, 244)])
    func packetLength(link: Int, packet: Int) {
        let image = SecureSample.image(5001)
        var bench = SecureBench(SecureSample.device(for: image), maximumWriteLength: link)
        #expect(bench.update(image) == .success(.installed))
        #expect(bench.device.installed == image.firmware)
        #expect(bench.packetLengths.max() == packet)
        #expect(bench.packetLengths.dropLast().allSatisfy { $0.isMultiple(of: 4) })
    }

    @Test func aLinkOfTooShortPacketsCannotBeUsed() {
        let image = SecureSample.image(100)
        var bench = SecureBench(SecureSample.device(for: image), maximumWriteLength: 3)
        #expect(bench.update(image).failure?.code == .misconfigured)
        #expect(bench.writes == 0)
    }

    @Test("receipts after any number of packets", arguments: [1, 2, 3, 5, 8, 12, 17, 18, 300], [20, 244])
    func receipts(every packets: Int, link: Int) {
        let image = SecureSample.image(12_301)
        var bench = SecureBench(SecureSample.device(for: image), maximumWriteLength: link, receipts: .every(packets))
        bench.latency = .milliseconds(30)
        #expect(bench.update(image) == .success(.installed))
        #expect(bench.device.installed == image.firmware)
        #expect(bench.mostInFlight <= packets)
        #expect(bench.statistics.objectsResent == 0)
        #expect(bench.statistics.droppedAnswers == 0)
        #expect(bench.statistics.objectsExecuted == 5)
    }

    @Test("answers count that come before the write is reported as done", arguments: [true, false])
    func earlyAnswers(early: Bool) {
        let image = SecureSample.image(10_000)
        var bench = SecureBench(SecureSample.device(for: image))
        bench.answersEarly = early
        #expect(bench.update(image) == .success(.installed))
        #expect(bench.statistics.objectsResent == 0)
        #expect(bench.statistics.droppedAnswers == 0)
    }

    @Test func adaptiveReceiptsGrowToOneForAWholeObject() {
        let image = SecureSample.image(4096 * 6)
        var bench = SecureBench(SecureSample.device(for: image))
        bench.latency = .milliseconds(30)
        #expect(bench.update(image) == .success(.installed))
        #expect(bench.learnt.pace?.stride == 17)
        #expect(
            bench.requests.map { $0[0] } == [
                2, 6, 1, 3, 4, 6, 2, 1, 3, 4, 2, 1, 4, 1, 4, 1, 4, 1, 4, 1, 4,
            ], "from the second object on the receipt at its end stands for its checksum")
    }

    @Test("receipts grow as far as is allowed", arguments: [1, 4, 8, 12, 64, 100])
    func adaptiveLimit(limit: Int) {
        let image = SecureSample.image(4096 * 10)
        var bench = SecureBench(
            SecureSample.device(for: image), maximumWriteLength: 20, receipts: .adaptive(limit: limit))
        bench.latency = .milliseconds(30)
        #expect(bench.update(image) == .success(.installed))
        #expect(bench.learnt.pace?.stride == limit)
        #expect(bench.mostInFlight <= 2 * limit)
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
