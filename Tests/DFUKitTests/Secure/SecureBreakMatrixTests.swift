import DFUKit
import DFUSimulator
import TestSupport
import Testing

/// Each fault at packets, requests and answers of an update by Secure DFU, and the one end that it must come to.
@Suite struct SecureBreakMatrixTests {
    typealias Kind = SecureBreak.Kind
    typealias Moment = SecureBreak.Moment

    /// The end of an update.
    enum End: Hashable {
        /// The device was seen running exactly the image.
        case running
        /// It ended with this code and this word of the device's state.
        case failed(UpdateError.Code, UpdateError.DeviceState)
    }

    /// A fault, what it befalls one after the other, and the end for each.
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var side: SecureFaultPlace.Side
        /// How many in a row it befalls.
        var count: Int
        var end: @Sendable (Moment) -> End
        var fault: @Sendable (SecureFaultPlace) -> SecureFault

        init(
            _ name: String, _ side: SecureFaultPlace.Side, count: Int = 1,
            end: @escaping @Sendable (Moment) -> End = { _ in .running },
            fault: @escaping @Sendable (SecureFaultPlace) -> SecureFault
        ) {
            self.name = name
            self.side = side
            self.count = count
            self.end = end
            self.fault = fault
        }

        var testDescription: String { "\(side.rawValue) \(name)" }
    }

    /// Some rows, tried on a kind of device.
    struct Block: Sendable {
        var kind: Kind
        var rows: [Row]
        /// Every so many packets are tried, and every so many requests and answers.
        var packetStride = 5
        var stride = 1

        /// Whether the fault is tried at this moment.
        func tries(_ moment: Moment) -> Bool {
            let stride = moment.side == .packet ? packetStride : stride
            return moment.isLast || moment.isEntry || (moment.number - 1).isMultiple(of: stride)
        }
    }

    /// Two objects and an odd rest.
    private static let image = Firmware.bytes(2 * 4096 + 1001)
    private static let package = Package.secure(image)

    private static let blocks = [
        Block(kind: Kind("SDK 17"), rows: passing + lasting + refusals),
        Block(kind: Kind("SDK 15") { $0.settings.sdk = .sdk15 }, rows: passing),
        Block(
            kind: Kind("SDK 12") { kind in
                kind.settings.sdk = .sdk12
                kind.settings.entry = .sdk12
                kind.radio = RadioModel()
            }, rows: passing, packetStride: 60, stride: 5),
        Block(
            kind: Kind("SDK 16 with a slow flash") { kind in
                kind.settings.sdk = .sdk16
                kind.settings.bootloader.eraseTime = .milliseconds(85)
                kind.settings.bootloader.writeTime = .microseconds(2500)
            }, rows: passing, packetStride: 9, stride: 3),
        Block(
            kind: Kind("SDK 17, bonded") { $0.settings.entry = .bonded }, rows: passing, packetStride: 9, stride: 4),
        Block(
            kind: Kind("SDK 17 that notes its progress") { $0.settings.bootloader.savesProgress = true },
            rows: passing, packetStride: 9, stride: 4),
        Block(
            kind: Kind("SDK 15 that executes nothing twice") { kind in
                kind.settings.sdk = .sdk15
                kind.settings.bootloader.refusesSecondExecute = true
            }, rows: passing, packetStride: 9, stride: 4),
    ]

    /// Without power before the last `execute` was heard: the application of before runs, as the new one would.
    private static let unverifiedAtTheLast: @Sendable (Moment) -> End = {
        $0.isLast ? .failed(.unverified, .unknown) : .running
    }

    /// Faults that happen once: each is repaired, but for an order to enter the bootloader that is taken and not followed.
    private static let passing = [
        Row("lost", .packet) { .drop($0) },
        Row("lost with the link", .packet) { .disconnect($0, after: .zero) },
        Row("lost, and silence for 4 s", .packet) { .silence($0, lasting: .seconds(4)) },
        Row("lost in a power cycle", .packet) { .powerCycle($0, offAir: .milliseconds(500)) },
        Row("lost in a power cycle of 20 s", .packet) { .powerCycle($0, offAir: .seconds(20)) },
        Row("lost", .request, end: { $0.operation == .enter ? .failed(.silent, .asBefore) : .running }) { .drop($0) },
        Row("answered with an error", .request) { .error($0, code: 0x0E) },
        Row("lost with the link", .request) { .disconnect($0, after: .zero) },
        Row("lost with the link, 500 ms later", .request) { .disconnect($0, after: .milliseconds(500)) },
        Row("lost, and silence for 4 s", .request) { .silence($0, lasting: .seconds(4)) },
        Row("lost in a power cycle", .request, end: unverifiedAtTheLast) {
            .powerCycle($0, offAir: .milliseconds(500))
        },
        Row("lost in a power cycle of 20 s", .request, end: unverifiedAtTheLast) {
            .powerCycle($0, offAir: .seconds(20))
        },
        Row("lost", .answer) { .drop($0) },
        Row("doubled at once", .answer) { .double($0, after: .zero) },
        Row("doubled after 15 ms", .answer) { .double($0, after: .milliseconds(15)) },
        Row("doubled after 3 s", .answer) { .double($0, after: .seconds(3)) },
        Row("100 ms late", .answer) { .delay($0, by: .milliseconds(100)) },
        Row("4 s late", .answer) { .delay($0, by: .seconds(4)) },
        Row("later than any limit", .answer) { .delay($0, by: .seconds(65)) },
        Row("lost with the link", .answer) { .disconnect($0, after: .zero) },
        Row("lost with the link, 500 ms later", .answer) { .disconnect($0, after: .milliseconds(500)) },
        Row("lost in a power cycle", .answer) { .powerCycle($0, offAir: .milliseconds(500)) },
        Row("lost in a power cycle of 20 s", .answer) { .powerCycle($0, offAir: .seconds(20)) },
    ]

    /// Faults that last: each ends the update in the way that the protocol names.
    private static let lasting = [
        Row("lost from here on", .packet, count: .max, end: { _ in .failed(.refused, .bootloader) }) { .drop($0) },
        Row(
            "lost from here on", .request, count: .max,
            end: { .failed(.silent, $0.isEntry ? .asBefore : .bootloader) }
        ) { .drop($0) },
        Row(
            "lost with the link from here on", .packet, count: .max, end: { _ in .failed(.linkLost, .bootloader) }
        ) { .disconnect($0, after: .zero) },
        Row(
            "lost with the link from here on", .request, count: .max,
            end: { $0.isEntry ? .failed(.refused, .asBefore) : .failed(.linkLost, .bootloader) }
        ) { .disconnect($0, after: .zero) },
    ]

    /// A no, as the application and the bootloader can say it.
    private static let refusals = [
        (0x02, nil), (0x05, nil), (0x08, nil), (0x0A, nil), (0x0B, 0x05), (0x42, nil),
    ].flatMap { (result: UInt8, extended: UInt8?) in
        let name = "refused with \(result), \(extended ?? 0)"
        return [
            Row("once \(name)", .request, end: { $0.endOfOneRefusal(result) }) {
                .answer($0, .result(result, extended: extended))
            },
            Row(
                "always \(name)", .request, count: .max,
                end: { .failed(.refused, $0.isEntry ? .asBefore : .bootloader) }
            ) { .answer($0, .result(result, extended: extended)) },
        ]
    }

    @Test(arguments: blocks.indices)
    func ends(_ index: Int) async throws {
        let block = Self.blocks[index]
        let clean = await SecureBreak(of: block.kind, to: Self.package)
        try #require(Self.end(of: clean) == .running, "\(clean.summary)")
        var updates = 0
        for row in block.rows {
            for moment in clean.moments where moment.side == row.side && block.tries(moment) {
                let place = SecureFaultPlace(moment.side, moment.number, count: row.count)
                let update = await SecureBreak(of: block.kind, [row.fault(place)], to: Self.package)
                let name = "\(block.kind.name): \(row.testDescription) \(moment)"
                #expect(Self.end(of: update) == row.end(moment), "\(name): \(update.summary)")
                Self.check(update, name)
                updates += 1
            }
        }
        #expect(updates > 100)
    }

    private static func end(of update: SecureBreak) -> End? {
        let runsImage = update.device.memory.application?.firmware == image
        switch update.result {
        case .success(let report):
            switch report.verdict {
            case .running: return runsImage ? .running : nil
            case .accepted, .started, .ranAlready: return nil
            }
        case .failure(let error): return runsImage ? nil : .failed(error.code, error.deviceState)
        }
    }

    /// What holds of every update, however it ends.
    private static func check(_ update: SecureBreak, _ name: String) {
        let bytes = update.progress.map(\.bytes)
        #expect(bytes == bytes.sorted(), "\(name): the progress falls")
        let runsImage = update.device.memory.application?.firmware == image
        #expect(runsImage || !bytes.contains(image.count), "\(name): 100 % too early")
        guard case .failure(let error) = update.result else { return }
        #expect(!error.message.isEmpty)
        // What it says of the device is so; an application that was left alone goes on.
        if error.deviceState == .asBefore { #expect(!update.device.isInBootloader, "\(name): not as before") }
    }
}

extension SecureBreak.Moment {
    /// The end where this request is refused once.
    fileprivate func endOfOneRefusal(_ result: UInt8) -> SecureBreakMatrixTests.End {
        switch (operation, result) {
        case (.setName, _), (.setReceipts, _), (.checksum, _): .running
        case (.enter, _): .failed(.refused, .asBefore)
        // A bootloader that is stuck is restarted, and an object that is not complete is sent again.
        case (.create, 0x08) where isInitPacket: .running
        case (.execute, 0x08) where !isInitPacket: .running
        default: .failed(.refused, .bootloader)
        }
    }
}
