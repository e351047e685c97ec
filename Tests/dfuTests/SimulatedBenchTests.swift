import DFUProtocol
import TestSupport
import Testing

/// The verbs of the bench without a radio.
@Suite(.blocking) struct SimulatedBenchTests {
    @Test("A simulated band is inspected without a radio")
    func inspect() {
        let outcome = BuiltProgram(arguments: ["inspect", "sim:band?time=virtual&version=2.0.1"]).run()
        let text = """
            sim:band
              Firmware     2.0.1
              Update by    block-ack: has its characteristics; nothing was asked

            FEE0
                FF01  notify
                FF02  write without response

            180A  Device Information
                2A26  Firmware Revision  read

            """
        #expect(outcome == .init(output: text, errors: "", status: 0))
    }

    @Test("A simulated band answers a frame", arguments: ["real", "virtual"])
    func reply(_ time: String) {
        let line = ["write", "sim:band?time=\(time)", "ff02", "1b9901", "--checksum", "--reply", "ff01"]
        #expect(BuiltProgram(arguments: line).run() == .init(output: "56 7B 08 27\n", errors: "", status: 0))
    }

    @Test("A simulated device has no bond", arguments: ["pair", "forget"])
    func bonds(_ verb: String) {
        let line = "dfu: sim:band: a simulated device has no bond; see 'dfu \(verb) --help'"
        #expect(BuiltProgram(arguments: [verb, "sim:band"]).run() == .failed(64, line))
    }

    @Test("A version is read as text")
    func read() {
        let line = ["read", "sim:band?time=virtual&version=2.0.1", "180A/2A26", "--text"]
        #expect(BuiltProgram(arguments: line).run() == .init(output: "2.0.1\n", errors: "", status: 0))
    }

    @Test("A write without response arrives", arguments: ["real", "virtual"])
    func write(_ time: String) throws {
        let folder = try TemporaryFolder()
        let state = folder.path + "/band.json"
        // The start of an update, which the band keeps.
        let version = BlockAck.Version(1, 1, 0)
        let start = BlockAck.Request.start(.init(size: 6000, crc32: 1, version: version, blockSize: 2048))
        let bytes = start.encoded(by: .init()).hexadecimal
        let line = ["write", "sim:band?time=\(time)&state=\(state)", "FF02", bytes]
        #expect(BuiltProgram(arguments: line).run() == .init(output: "", errors: "", status: 0))
        let kept = String(decoding: try ProjectFile.bytes(at: state), as: UTF8.self)
        #expect(kept.contains("reception"))
    }
}
