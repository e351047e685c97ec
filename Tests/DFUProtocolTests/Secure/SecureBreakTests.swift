import DFUProtocol
import Testing

/// One thing going wrong at every write.
@Suite struct SecureBreakTests {
    private static let memories: [SecureBootloader.Memory] = [.kept, .initPacketOnly, .executedObjects]
    private static let receipts: [SecureDFU.Parameters.Receipts] = [.none, .every(1), .every(4), .adaptive(limit: 64)]
    private static let image = SecureSample.small

    /// In packets of 20 bytes, with receipts that take a while.
    private static func bench(_ memory: SecureBootloader.Memory, _ receipts: SecureDFU.Parameters.Receipts)
        -> SecureBench
    {
        var bench = SecureBench(SecureSample.smallDevice(memory), maximumWriteLength: 20, receipts: receipts)
        bench.latency = .milliseconds(10)
        return bench
    }

    private static func writes(_ receipts: SecureDFU.Parameters.Receipts) -> Int {
        var bench = bench(.kept, receipts)
        #expect(bench.update(image) == .success(.installed))
        return bench.writes
    }

    @Test("a link lost at any write is made good", arguments: memories.indices, receipts.indices)
    func linkLost(memory: Int, receipts: Int) {
        let writes = Self.writes(Self.receipts[receipts])
        for number in 1...writes {
            for fault in [SecureBench.Fault.linkLost(before: number), .linkLost(after: number)] {
                var bench = Self.bench(Self.memories[memory], Self.receipts[receipts])
                bench.faults = [fault]
                let result = bench.update(Self.image)
                let isUnanswered = number == writes
                #expect(
                    result == .success(isUnanswered ? .unanswered(linkLost: true) : .installed),
                    "\(fault) of \(writes)")
                #expect(bench.links == (isUnanswered ? 1 : 2))
                if fault != .linkLost(before: writes) {
                    #expect(bench.device.installed == Self.image.firmware, "\(fault) of \(writes)")
                }
            }
        }
    }

    @Test("a link lost at any two writes is made good", arguments: memories.indices)
    func linkLostTwice(memory: Int) {
        for first in 1...20 {
            for second in first + 1...first + 15 {
                var bench = Self.bench(Self.memories[memory], .every(4))
                bench.faults = [.linkLost(after: first), .linkLost(after: second)]
                let result = bench.update(Self.image)
                let isUnanswered = bench.writes == second
                #expect(
                    result == .success(isUnanswered ? .unanswered(linkLost: true) : .installed), "\(first), \(second)")
                #expect(bench.device.installed == Self.image.firmware, "\(first), \(second)")
            }
        }
    }

    @Test("a stop at any write", arguments: memories.indices, receipts.indices)
    func stop(memory: Int, receipts: Int) {
        let writes = Self.writes(Self.receipts[receipts])
        for number in 1...writes {
            for fault in [
                SecureBench.Fault.stop(before: number), .stop(during: number), .stop(after: number),
            ] {
                var bench = Self.bench(Self.memories[memory], Self.receipts[receipts])
                bench.faults = [fault]
                let before = bench.now
                let error = bench.update(Self.image).failure
                #expect(error?.code == .aborted, "\(fault)")
                #expect(bench.writesAfterStop <= 1, "\(fault)")
                #expect(bench.requests.count { $0 == [0x0C] } <= 1)
                let isAtTheEnd = number == writes && fault != .stop(before: writes)
                let isUntouched = fault == .stop(before: 1)
                if isAtTheEnd {
                    #expect(error?.reason == "stoppedAfterComplete")
                } else if isUntouched {
                    #expect(bench.writes == 0)
                } else {
                    #expect(bench.requests.last == [0x0C], "\(fault)")
                }
                #expect(bench.now - before < .seconds(2))
            }
        }
    }

    @Test("a device that does not know the abort ends the stop all the same") func stopWithoutRestart() {
        var bench = Self.bench(.kept, .every(4))
        bench.restart = nil
        bench.faults = [.stop(after: 12)]
        let error = bench.update(Self.image).failure
        #expect(error?.code == .aborted)
        #expect(error?.message.contains("did not confirm") == true)
    }

    @Test("any packet may be lost", arguments: memories.indices, receipts.indices)
    func lostPacket(memory: Int, receipts: Int) {
        for number in 1...13 {
            var bench = Self.bench(Self.memories[memory], Self.receipts[receipts])
            bench.device.lostPackets = [number]
            #expect(bench.update(Self.image) == .success(.installed), "packet \(number)")
            #expect(bench.device.installed == Self.image.firmware, "packet \(number)")
            #expect(bench.statistics.objectsResent == 1)
            #expect(bench.links == 1)
        }
    }

    @Test("a packet may be lost, and then the link", arguments: memories.indices, [0, 2])
    func lostPacketAndLink(memory: Int, receipts: Int) {
        for packet in 1...12 {
            for number in packet + 1...packet + 20 {
                var bench = Self.bench(Self.memories[memory], Self.receipts[receipts])
                bench.device.lostPackets = [packet]
                bench.faults = [.linkLost(after: number)]
                let result = bench.update(Self.image)
                let isUnanswered = bench.writes == number
                #expect(
                    result == .success(isUnanswered ? .unanswered(linkLost: true) : .installed),
                    "packet \(packet), write \(number)")
                #expect(bench.device.installed == Self.image.firmware, "packet \(packet), write \(number)")
            }
        }
    }

    @Test("packets that are lost for good end the transfer", arguments: receipts.indices)
    func lostForGood(receipts: Int) {
        var bench = Self.bench(.kept, Self.receipts[receipts])
        bench.hears = { object, _ in object < 64 }
        let error = bench.update(Self.image).failure
        #expect(error?.reason == "objectIncomplete")
        #expect(bench.requests.count { $0 == [1, 2, 64, 0, 0, 0] } == 4, "once the first, three times the second")
        #expect(bench.links == 1)
    }
}
