import DFUProtocol
import FoundationEssentials
import Testing

@testable import DFUSimulator

@Suite struct BandMemoryTests {
    @Test("what a band keeps comes back from JSON", arguments: [0, 1, 2, 3])
    func roundTrip(blocks: Int) throws {
        let bytes = (0..<150).map { UInt8($0) }
        var memory = Band.Memory(version: BlockAck.Version(1, 4, 2))
        var reception = BandReception(
            .init(size: 150, crc32: CRC32.checksum(bytes), version: .any, blockSize: 64))
        for index in 0..<blocks {
            reception.keep(Array(bytes[(index * 64)..<min(index * 64 + 64, 150)]), at: index)
        }
        #expect(reception.next == blocks)
        memory.reception = reception
        if blocks == 3 { memory.run(reception) }
        let json = try JSONEncoder().encode(memory)
        let read = try JSONDecoder().decode(Band.Memory.self, from: json)
        #expect(read == memory)
        #expect(read.reception?.bytes == Array(bytes.prefix(blocks * 64)))
        #expect(json.count < 700, "bytes are one text, not a list of numbers")
    }

    @Test func aFreshBandKeepsItsFactoryVersion() {
        var settings = Band.Settings()
        settings.version = BlockAck.Version(2, 3, 4)
        #expect(Band(settings).memory == Band.Memory(version: BlockAck.Version(2, 3, 4)))
    }
}
