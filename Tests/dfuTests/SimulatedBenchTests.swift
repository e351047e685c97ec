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

    @Test("What is read, written and notified is captured")
    func capture() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/bench.txt"
        let line = [
            "write", "sim:band?time=virtual", "ff02", "1b9901", "--checksum", "--reply", "ff01", "--capture", file,
        ]
        #expect(BuiltProgram(arguments: line).run().status == 0)
        let lines = String(decoding: try ProjectFile.bytes(at: file), as: UTF8.self).split(separator: "\n")
        #expect(
            lines.filter { !$0.hasPrefix("#") } == [
                ">> CMD  10   ; connect", "<< CONNECTED  01", ">> CMD  12 0100   ; subscribe", "<< WRITE_RSP  0000",
                "<< MTU_RSP    1700   ; packets of at most 20 bytes", ">> COMMAND FF02 1b99014b",
                "<< NOTIFY     567b0827   ; FF01", ">> CMD  31   ; disconnect",
            ])
        #expect(lines.last == "# status: 0 ok")
        #expect(BuiltProgram(arguments: ["read", "sim:band", "2A27", "--capture", file]).run().status == 76)
        let last = String(decoding: try ProjectFile.bytes(at: file), as: UTF8.self).split(separator: "\n").last
        #expect(last?.hasPrefix("# status: 76 refused   ; it has no characteristic 2A27; ") == true)
        let full = BuiltProgram(arguments: ["read", "sim:band", "2A26", "--capture", "/dev/full"]).run()
        let warning = "the capture /dev/full cannot be written: No space left on device; all goes on without it"
        #expect(
            full == .init(output: "31 2E 30 2E 30\n", errors: "dfu: sim:band: warning: \(warning)\n", status: 0))
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
