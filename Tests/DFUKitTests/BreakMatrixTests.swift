import DFUKit
import DFUSimulator
import TestSupport
import Testing

/// Each fault at each packet of an update of three blocks, and the one end that it must come to.
@Suite struct BreakMatrixTests {
    /// The end of an update.
    enum End: Hashable {
        /// It went well, and the band runs exactly the image.
        case ok
        /// It ended with this code, and the band runs what it ran before.
        case failed(UpdateError.Code)
        /// It ended unverified, though the band runs the image: nobody could see it.
        case unseen
    }

    /// A fault, the packets that it befalls one after the other, and the end for each.
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var numbers: ClosedRange<Int>
        var settings = Band.Settings()
        var fault: @Sendable (Int) -> [Fault]
        var end: @Sendable (Int) -> End

        var testDescription: String { name }
    }

    // Battery, start, three blocks of header, data and end, complete. Blocks are short, so that there are few packets.
    private static let dataPackets = [4, 4, 3]
    private static let frames = 1...(2 + dataPackets.reduce(0) { $0 + $1 + 2 } + 1)
    private static let battery = 1
    private static let start = 2
    private static let complete = frames.upperBound
    /// Battery, start, three blocks, complete.
    private static let replies = 1...6
    private static let image = Firmware.bytes(64 + 64 + 48)

    private static var settings: Band.Settings {
        var settings = Band.Settings()
        settings.profile.blockAck.blockSize = 64
        return settings
    }

    private static func frame(_ number: Int) -> FaultPlace { FaultPlace(.frame, number) }
    private static func reply(_ number: Int) -> FaultPlace { FaultPlace(.reply, number) }
    private static func frames(from number: Int) -> FaultPlace { FaultPlace(.frame, number, count: .max) }
    private static func replies(from number: Int) -> FaultPlace { FaultPlace(.reply, number, count: .max) }

    /// Faults that happen once: each is repaired, wherever it happens.
    ///
    /// But for one: a band that reboots on `complete` and loses all blocks has nothing left to be asked about.
    private static func passing(_ kind: String, _ settings: Band.Settings) -> [Row] {
        typealias Once = (name: String, fault: @Sendable (FaultPlace) -> Fault)
        let losesBlocks = "lost in a reboot that loses the blocks"
        let either: [Once] = [
            ("lost", { .drop($0) }),
            ("its last byte damaged", { .damage($0, byte: nil) }),
            ("its header byte damaged", { .damage($0, byte: 0) }),
            ("its opcode damaged", { .damage($0, byte: 1) }),
            ("its third byte damaged", { .damage($0, byte: 2) }),
            ("doubled at once", { .double($0, after: .zero) }),
            ("doubled after 15 ms", { .double($0, after: .milliseconds(15)) }),
            ("doubled after 3 s", { .double($0, after: .seconds(3)) }),
            ("100 ms late", { .delay($0, by: .milliseconds(100)) }),
            ("4 s late", { .delay($0, by: .seconds(4)) }),
            ("later than any limit", { .delay($0, by: .seconds(35)) }),
            ("behind the next one", { .swap($0) }),
            ("lost with the link", { .disconnect($0, after: .zero) }),
            ("lost with the link, 500 ms later", { .disconnect($0, after: .milliseconds(500)) }),
            ("lost, and silence for 4 s", { .silence($0, lasting: .seconds(4)) }),
            ("lost in a reboot that keeps the blocks", { .reboot($0, keepsBlocks: true, offAir: .seconds(2)) }),
            (losesBlocks, { .reboot($0, keepsBlocks: false, offAir: .seconds(2)) }),
            ("lost in a reboot of 20 s", { .reboot($0, keepsBlocks: true, offAir: .seconds(20)) }),
        ]
        var rows: [Row] = []
        for once in either {
            rows.append(
                Row(
                    name: "\(kind): frame \(once.name)", numbers: frames, settings: settings,
                    fault: { [once.fault(frame($0))] },
                    end: { $0 == complete && once.name == losesBlocks ? .failed(.unverified) : .ok }))
            rows.append(
                Row(
                    name: "reply \(once.name)", numbers: replies, settings: settings,
                    fault: { [once.fault(reply($0))] },
                    end: { _ in .ok }))
        }
        return rows
    }

    /// Faults that last: each ends the update in the way that the protocol names.
    private static var lasting: [Row] {
        [
            Row(
                name: "all frames lost from", numbers: frames, settings: settings,
                fault: { [.drop(frames(from: $0))] },
                end: { $0 == battery ? .failed(.refused) : $0 == complete ? .failed(.unverified) : .failed(.silent) }),
            Row(
                name: "all frames damaged from", numbers: frames, settings: settings,
                fault: { [.damage(frames(from: $0), byte: nil)] },
                end: { _ in .failed(.silent) }),
            Row(
                name: "all replies lost from", numbers: replies, settings: settings,
                fault: { [.drop(replies(from: $0))] },
                end: { $0 == 1 ? .failed(.refused) : $0 == 6 ? .ok : .failed(.silent) }),
            Row(
                name: "all replies damaged from", numbers: replies, settings: settings,
                fault: { [.damage(replies(from: $0), byte: nil)] },
                end: { $0 == 1 ? .failed(.refused) : $0 == 6 ? .ok : .failed(.silent) }),
            Row(
                name: "the link lost at every frame from", numbers: frames, settings: settings,
                fault: { [.disconnect(frames(from: $0), after: .zero)] },
                end: { $0 == complete ? .failed(.unverified) : .failed(.linkLost) }),
            Row(
                name: "silence for ever from", numbers: frames, settings: settings,
                fault: { [.silence(frame($0), lasting: nil)] },
                end: { $0 == battery ? .failed(.refused) : $0 == complete ? .failed(.unverified) : .failed(.silent) }),
            Row(
                name: "every packet cut to, bytes", numbers: 4...19, settings: settings,
                fault: { [.truncate(length: $0)] }, end: { $0 < 16 ? .failed(.silent) : .failed(.refused) }),
            Row(
                name: "the old version after the reboot", numbers: 1...1, settings: settings,
                fault: { _ in [.oldVersion] }, end: { _ in .failed(.unverified) }),
        ]
    }

    /// What the band says, by the table of the protocol.
    private static var statuses: [Row] {
        let commands: [(BlockAck.Command, ClosedRange<Int>)] = [
            (.start, 1...1), (.blockEnd, 1...3), (.complete, 1...1),
        ]
        typealias Verdict = (status: UInt8, once: [BlockAck.Command: End], lasting: [BlockAck.Command: End])
        let no = End.failed(.refused)
        let silent = End.failed(.silent)
        let table: [Verdict] = [
            (0x01, [.start: no, .blockEnd: no, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
            (0x02, [.start: .ok, .blockEnd: .ok, .complete: .ok], [.start: no, .blockEnd: no, .complete: no]),
            (
                0x03, [.start: .ok, .blockEnd: .ok, .complete: .ok],
                [.start: silent, .blockEnd: silent, .complete: silent]
            ),
            (0x04, [.start: no, .blockEnd: no, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
            (0x05, [.start: no, .blockEnd: no, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
            (0x06, [.start: no, .blockEnd: no, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
            (0x07, [.start: no, .blockEnd: .ok, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
            (0x08, [.start: no, .blockEnd: .ok, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
            (0x09, [.start: no, .blockEnd: no, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
            (0x0A, [.start: no, .blockEnd: no, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
            (
                0x0B, [.start: .ok, .blockEnd: .ok, .complete: .ok],
                [.start: silent, .blockEnd: silent, .complete: silent]
            ),
            (0x42, [.start: no, .blockEnd: no, .complete: no], [.start: no, .blockEnd: no, .complete: no]),
        ]
        var rows: [Row] = []
        for (command, numbers) in commands {
            for verdict in table {
                let status = BlockAck.Status(rawValue: verdict.status)
                guard let once = verdict.once[command], let lasting = verdict.lasting[command] else { continue }
                rows.append(
                    Row(
                        name: "\(command) once answered with \(status)", numbers: numbers, settings: settings,
                        fault: { [.status(FaultPlace(.frame, $0, of: command), status)] }, end: { _ in once }))
                rows.append(
                    Row(
                        name: "\(command) always answered with \(status)", numbers: numbers, settings: settings,
                        fault: { [.status(FaultPlace(.frame, $0, of: command, count: .max), status)] },
                        end: { _ in lasting }))
            }
        }
        return rows
    }

    /// The faults that happen once, on other kinds of band and link.
    private static var kinds: [Row] {
        var answering = settings
        answering.commandProperties = .write
        var single = settings
        single.profile.reply = single.profile.command
        var adaptive = settings
        adaptive.profile.blockAck.gap = .adaptive(from: .milliseconds(20))
        var forgetful = settings
        forgetful.keepsBlocks = false
        forgetful.eraseTime = .seconds(3)
        forgetful.flashTime = .milliseconds(300)
        return passing("a band", settings) + passing("writes with response", answering)
            + passing("one characteristic", single) + passing("an adaptive gap", adaptive)
            + passing("a slow band that keeps no blocks", forgetful)
    }

    private static let rows = kinds + lasting + statuses

    @Test(arguments: rows)
    func ends(_ row: Row) async throws {
        for number in row.numbers {
            let update = try await SimulatedUpdate(of: row.settings, faults: row.fault(number), to: .bin(Self.image))
            #expect(Self.end(of: update) == row.end(number), "\(row.name) \(number): \(update.summary)")
            Self.check(update, "\(row.name) \(number)")
            try Self.checkCapture(of: update, "\(row.name) \(number)")
        }
    }

    @Test func isCounted() {
        let cells = Self.rows.reduce(0) { $0 + $1.numbers.count }
        print("break matrix: \(Self.rows.count) faults, \(cells) updates")
        #expect(cells > 2000)
    }

    private static func end(of update: SimulatedUpdate) -> End? {
        let runsImage = update.band.memory.image == image
        switch update.result {
        case .success: return runsImage ? .ok : nil
        case .failure(let error):
            guard runsImage else { return .failed(error.code) }
            return error.code == .unverified ? .unseen : nil
        }
    }

    /// The captured update can be replayed: with its package, and with zeros for it.
    private static func checkCapture(of update: SimulatedUpdate, _ name: String) throws {
        let capture = try Capture(reading: Array(update.capture.utf8))
        for package in [nil, Package.bin(image)] {
            let replay = try capture.replay(with: package)
            #expect(replay.difference == nil, "\(name)")
            #expect(replay.next == nil, "\(name)")
            #expect(replay.result?.hasPrefix(update.error?.code.rawValue ?? "ok") == true, "\(name)")
            #expect(replay.writes == update.sentPackets, "\(name)")
        }
    }

    /// What holds of every update, however it ends.
    private static func check(_ update: SimulatedUpdate, _ name: String) {
        let bytes = update.progress.map(\.bytes)
        #expect(bytes == bytes.sorted(), "\(name): the progress falls")
        let isAccepted = update.band.memory.image == image || update.isAccepted
        #expect(isAccepted || !bytes.contains(image.count), "\(name): 100 % too early")
        if case .success = update.result { #expect(bytes.last == image.count, "\(name): not 100 % at the end") }
        if case .failure(let error) = update.result { #expect(!error.message.isEmpty) }
    }
}

extension SimulatedUpdate {
    /// Whether the band has answered `complete` with 00.
    fileprivate var isAccepted: Bool {
        events.contains { event in
            guard case .notified(let bytes, _) = event.kind else { return false }
            return bytes.starts(with: [0x56, 0xA4, 0x00])
        }
    }

    fileprivate var summary: String {
        switch result {
        case .success(let report): "\(report)"
        case .failure(let error): "\(error.code), \(error.phase), \(error.message)"
        }
    }
}
