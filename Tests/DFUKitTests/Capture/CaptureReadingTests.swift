import DFUKit
import DFUSimulator
import TestSupport
import Testing

/// Captures that people, mail programs and full disks have had their hands on.
@Suite struct CaptureReadingTests {
    private static let image = Firmware.bytes(150)

    /// A capture with every kind of line.
    private static func capture() async throws -> String {
        var settings = Band.Settings()
        settings.profile.blockAck.blockSize = 64
        settings.commandProperties = .write
        let faults: [Fault] = [
            .drop(FaultPlace(.reply, 3)), .disconnect(FaultPlace(.frame, 12), after: .zero),
            .drop(FaultPlace(.reply, 1, of: .complete)), .oldVersion,
        ]
        return try await SimulatedUpdate(of: settings, faults: faults, to: .bin(image)).capture
    }

    private static func replay(_ text: String, with package: Package? = nil) throws(CaptureError) -> Replay {
        try Capture(reading: Array(text.utf8)).replay(with: package)
    }

    @Test func aCaptureThatWasCutOffAgreesAsFarAsItGoes() async throws {
        let bytes = Array(try await Self.capture().utf8)
        for length in stride(from: 1, to: bytes.count - 1, by: 13) {
            do throws(CaptureError) {
                let replay = try Capture(reading: Array(bytes[..<length])).replay()
                #expect(replay.difference == nil, "\(length)")
            } catch {
                #expect(["notACapture", "noUpdate", "captureMalformed"].contains(error.reason), "\(length)")
                #expect(length < 300, "only the head has to be whole")
            }
        }
    }

    @Test func whatTheProcedureWouldDoNextIsTold() throws {
        let head = "# capture: 1\n# protocol: block-ack\n<< CONNECTED 01\n# begin: battery\n"
        let question = ">> CP   1b99014b   ; battery"
        #expect(try Self.replay(head).next == question)
        #expect(try Self.replay(head + question + "\n").next == ">> CMD  22 88130000   ; waits at most 5.0 seconds")
        #expect(try Self.replay(head + question + "\n<< NOTIFY 567B0827\n").next == "# end: 80 %")
        #expect(try Self.replay(head + question + "\n<< NOTIFY 567B0827\n# end: 80 %\n").next == nil)
    }

    @Test func handsAreForgiven() throws {
        let text = """
            # capture: 1\r
            # protocol: block-ack\r

            #what I think of it: nothing; good
            <<\tCONNECTED   01\r
            # begin: battery   ; a question
            >>  CP 1B 99 01 4b ;
            <<  NOTIFY\t56 7b 08 27
            # end:  80 %
            # result: ok - updated

            """
        let replay = try Self.replay(text)
        #expect(replay.difference == nil)
        #expect(replay.writes == 1)
        #expect(replay.answers == 1)
        #expect(replay.links == 1)
        #expect(replay.result == "ok - updated")
    }

    @Test(
        arguments: [
            ("", "notACapture", nil, "it is no capture: its first line is not '# capture: 1'"),
            ("PK\u{3}\u{4}", "notACapture", nil, "it is no capture: its first line is not '# capture: 1'"),
            (
                "# capture: 2\n", "captureVersion", 1,
                "this version reads captures of version 1 alone; use the dfu that wrote it, or a newer one"
            ),
            ("# capture: 1\n", "noUpdate", nil, "there is no update in it: it names no protocol"),
            (
                "# capture: 1\n# protocol: secure\n", "captureProtocol", nil,
                "it is an update by secure, and this version replays block-ack alone"
            ),
            ("# capture: 1\nhello\n", "captureMalformed", 2, "it begins with none of '>>', '<<' and '#'"),
            ("# capture: 1\n>> \n", "captureMalformed", 2, "a word is missing behind '>>'"),
            ("# capture: 1\n>> XP 00\n", "captureMalformed", 2, "'XP' is nothing that a host does"),
            ("# capture: 1\n<< HELLO\n", "captureMalformed", 2, "'HELLO' is nothing that a device does"),
            ("# capture: 1\n>> CP 123\n", "captureMalformed", 2, "'123' is no hexadecimal, two digits a byte"),
            ("# capture: 1\n>> CP +1\n", "captureMalformed", 2, "'+1' is no hexadecimal, two digits a byte"),
            ("# capture: 1\n>> CMD\n", "captureMalformed", 2, "CMD wants a number of two digits"),
            ("# capture: 1\n>> CMD 22 00\n", "captureMalformed", 2, "CMD 22 wants the milliseconds in four bytes"),
            (
                "# capture: 1\n<< WRITE_RSP 02\n", "captureMalformed", 2,
                "WRITE_RSP wants 0000, or 01 and an ATT error code"
            ),
            ("# capture: 1\n<< MTU_RSP 17\n", "captureMalformed", 2, "MTU_RSP wants two bytes"),
            (
                "# capture: 1\n>> PKT x0 packets, 5 bytes\n", "captureMalformed", 2,
                "a stand-in is written 'xN packets, M bytes', with ', CRC-32 XXXXXXXX' where it is known"
            ),
            (
                "# capture: 1\n>> PKT x1 packets, 5 bytes, CRC-32 0x123456\n", "captureMalformed", 2,
                "a CRC-32 has eight hex digits"
            ),
        ] as [(String, String, Int?, String)])
    func whatIsNoCaptureIsToldInASentence(_ text: String, _ reason: String, _ line: Int?, _ message: String) {
        let error = #expect(throws: CaptureError.self) { try Self.replay(text) }
        #expect(error?.reason == reason)
        #expect(error?.line == line)
        #expect(error?.message == message)
    }

    @Test(
        arguments: [
            ("# begin: dance", 3, "a procedure is one of battery, transfer, completion, disconnection, set-time"),
            ("# begin: transfer", 3, "no image-size stands above"),
            ("# begin: completion", 3, "no image-size stands above"),
            ("# begin: set-time 12", 3, "set-time wants the packed time in eight hex digits"),
            ("# begin: disconnection soon", 3, "a disconnection wants the milliseconds that it may take"),
            ("# begin: battery\n# begin: battery", 4, "the procedure before has not ended ('# end: …')"),
            ("# begin: battery\n# result: ok", 4, "the procedure before has not ended ('# end: …')"),
            (
                "# begin: battery\n<< WRITE_RSP 0000", 4,
                "no write is before it whose outcome this could be about"
            ),
            (
                "# begin: battery\n<< WRITE_OPEN", 4,
                "no write is before it whose outcome this could be about"
            ),
            (
                "# begin: battery\n>> CP 1b99014b\n<< WRITE_OPEN\n>> CP 1b99014b", 6,
                "the outcome of the write before is missing"
            ),
            (">> CP 1b99014b", 3, "it belongs to a procedure, and none has begun ('# begin: …')"),
            ("# image-size: 0", 3, "image-size: it wants a number from 1 to 4294967295"),
            ("# image-size: 5", nil, "image-crc: an image has a CRC-32 of eight hex digits"),
            (
                "# image-size: 5\n# image-crc: 00000000\n# version: 1.2", 5,
                "version: an image has a version of three numbers from 0 to 255, or 'any'"
            ),
            ("# packet-limit: -1", 3, "packet-limit: it wants a number from 0 to 65535"),
            (
                #"# profile: {"name": "x", "opcodes": {"setTime": "0x99"}}"#, 3,
                "profile: the opcode 99 is used for battery and setTime"
            ),
            (#"# profile: {"name": "x", "a\nb": 1}"#, 3, "profile: a b: no such member"),
            (#"# profile: {"tries": 0}"#, 3, "profile: name: missing; tries: wants a whole number from 1 to 10"),
            (
                "# image-size: 5\n# image-crc: 00000000\n# version: any\n# begin: transfer gap 4 data", 6,
                "a transfer begins with bytes and milliseconds: data, gap, worked, failed"
            ),
            (
                "# image-size: 5\n# image-crc: 00000000\n# version: any\n# begin: transfer gap 10001", 6,
                "a transfer begins with bytes and milliseconds: data, gap, worked, failed"
            ),
        ] as [(String, Int?, String)])
    func whatDoesNotHoldTogetherIsToldWithItsLine(_ text: String, _ line: Int?, _ message: String) {
        let error = #expect(throws: CaptureError.self) {
            try Self.replay("# capture: 1\n# protocol: block-ack\n\(text)\n")
        }
        #expect(error?.reason == "captureMalformed")
        #expect(error?.line == line)
        #expect(error?.message == message)
    }

    @Test func aLineThatIsNoTextIsTold() {
        let error = #expect(throws: CaptureError.self) {
            try Capture(reading: Array("# capture: 1\n".utf8) + [0xFF, 0x0A])
        }
        #expect(error?.line == 2)
        #expect(error?.message == "it is no text (UTF-8)")
    }

    @Test func anotherPackageIsNotWhatWasSent() async throws {
        let capture = try await Self.capture()
        let other = Package.bin(Firmware.bytes(150, seed: 2))
        let error = #expect(throws: CaptureError.self) { try Self.replay(capture, with: other) }
        #expect(error?.reason == "packageDiffers")
        #expect(
            error?.message.hasPrefix("\(other.fileName) is not what was sent: it holds no image of 150 bytes") == true)
        #expect(try Self.replay(capture, with: .bin(Self.image)).difference == nil)
    }

    @Test func anImageThatIsTooLargeForZerosNeedsItsPackage() {
        let head =
            "# capture: 1\n# protocol: block-ack\n# image-size: 4294967295\n# image-crc: 00000000\n# version: any\n"
        let error = #expect(throws: CaptureError.self) { try Self.replay(head) }
        #expect(error?.reason == "imageTooLarge")
    }

    /// Lines doubled, left out, swapped and changed: whatever comes of it, it is an answer.
    @Test func noCaptureEndsTheProgram() async throws {
        let lines = try await Self.capture().split(separator: "\n").map(String.init)
        var random = Chance(state: 7)
        for _ in 0..<400 {
            var changed = lines
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 1..<changed.count, using: &random)
                let other = Int.random(in: 1..<changed.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: changed.insert(changed[other], at: place)
                case 1: changed.remove(at: place)
                case 2: changed.swapAt(place, other)
                case 3:
                    changed.insert(
                        ["<< WRITE_OPEN", ">> CMD 30", "<< DISCONNECT", "<< WRITE_ERR"][other % 4], at: place)
                default:
                    var bytes = Array(changed[place].utf8)
                    guard !bytes.isEmpty else { continue }
                    bytes[other % bytes.count] = UInt8.random(in: 0x20...0x7E, using: &random)
                    changed[place] = String(decoding: bytes, as: UTF8.self)
                }
            }
            do throws(CaptureError) {
                let replay = try Self.replay(changed.joined(separator: "\n") + "\n")
                #expect(replay.difference.map { (1...changed.count).contains($0.line) } != false)
            } catch {
                #expect(!error.message.isEmpty && !error.message.contains("\n"))
            }
        }
    }

    private struct Chance: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 33
        }
    }
}
