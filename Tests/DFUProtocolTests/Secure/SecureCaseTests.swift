import DFUProtocol
import Testing

/// Cases that were met in the field.
@Suite struct SecureCaseTests {
    private static let image = SecureSample.image(12_301)

    @Test("SEC-01 two packets lost in the third object", arguments: [20, 244])
    func lostPackets(link: Int) {
        var device = SecureSample.device(for: Self.image)
        let perObject = (4096 + link - 1) / link
        let first = (132 + link - 1) / link + 2 * perObject + 4
        device.lostPackets = [first, first + 1]
        var bench = SecureBench(device, maximumWriteLength: link)
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.statistics.objectsResent == 1)
        #expect(bench.requests.count { $0 == [1, 2, 0, 16, 0, 0] } == 4, "the third object twice, with the same size")
        #expect(bench.links == 1)
    }

    @Test("SEC-03 execute asked twice on resume") func executedAlready() {
        let image = SecureSample.image(10_000)
        var device = SecureSample.device(for: image)
        device.hold(
            initPacket: image.initPacket, isExecuted: true, firmware: Array(image.firmware.prefix(8192)), executed: 8192
        )
        var bench = SecureBench(device, receipts: SecureDFU.Parameters.Receipts.none)
        var executions = 0
        bench.tamper = { bytes, isRequest, answers in
            guard isRequest, bytes == [4] else { return }
            executions += 1
            if executions == 2 { answers = [[0x60, 4, 8]] }
        }
        #expect(bench.update(image) == .success(.installed))
        #expect(bench.device.installed == image.firmware)
        #expect(bench.requests == [[2, 0, 0], [6, 1], [4], [6, 2], [4], [1, 2, 16, 7, 0, 0], [3], [4]])
        #expect(bench.packetLengths.reduce(0, +) == 1808)
    }

    @Test("SEC-05 resume in the second half of the init packet") func resumedInitPacket() {
        var device = SecureSample.device(for: Self.image)
        device.hold(initPacket: [], isExecuted: false)
        _ = device.requested([1, 1, 132, 0, 0, 0])
        _ = device.heard(Array(Self.image.initPacket.prefix(100)))
        var bench = SecureBench(device)
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.packetLengths.first == 32)
        #expect(bench.requests.prefix(4) == [[2, 0, 0], [6, 1], [3], [4]])
        #expect(bench.device.installed == Self.image.firmware)
    }

    @Test("SEC-06 other firmware's leftovers on the device") func leftovers() {
        var device = SecureSample.device(for: Self.image)
        let other = SecureSample.bytes(4096, seed: 99)
        device.hold(initPacket: Array(other.prefix(132)), isExecuted: true, firmware: other, executed: 4096)
        var bench = SecureBench(device)
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.requests[2] == [1, 1, 132, 0, 0, 0])
        #expect(bench.packetLengths.reduce(0, +) == 132 + 12_301)
    }

    @Test("SEC-06 leftovers that the device goes on to tell of") func leftoversToldOf() {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.tamper = { bytes, isRequest, answers in
            guard isRequest, bytes[0] == 6 else { return }
            answers = [
                bytes[1] == 1
                    ? [0x60, 6, 1, 0, 2, 0, 0, 132, 0, 0, 0, 0x78, 0x56, 0x34, 0x12]
                    : [0x60, 6, 1, 0, 16, 0, 0, 0, 16, 0, 0, 0x78, 0x56, 0x34, 0x12]
            ]
        }
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
    }

    @Test("a damaged object is replaced where it began") func damagedObject() {
        var device = SecureSample.device(for: Self.image)
        let damaged = Array(Self.image.firmware.prefix(5000)) + [UInt8](repeating: 0xEE, count: 100)
        device.hold(initPacket: Self.image.initPacket, isExecuted: true, firmware: damaged, executed: 4096)
        var bench = SecureBench(device)
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.packetLengths.reduce(0, +) == 12_301 - 4096)
    }

    @Test("damage before the open object makes the transfer begin anew") func damagedBefore() {
        var device = SecureSample.device(for: Self.image)
        let damaged = [0xEE] + Self.image.firmware[1..<4096]
        device.hold(initPacket: Self.image.initPacket, isExecuted: true, firmware: damaged, executed: 4096)
        for offset in [4096, 5096, 8192] {
            device.hold(
                initPacket: Self.image.initPacket, isExecuted: true,
                firmware: damaged + Self.image.firmware[4096..<offset], executed: 4096)
            var bench = SecureBench(device)
            #expect(bench.update(Self.image) == .success(.installed))
            #expect(bench.device.installed == Self.image.firmware)
        }
    }

    private static let initPacketRefusals: [(code: [UInt8], reason: String, text: String)] = [
        ([0x02], "bootloaderRefused", "op code not supported (0x02)"),
        ([0x03], "bootloaderRefused", "invalid parameter (0x03)"),
        ([0x04], "spaceInsufficient", "insufficient resources (0x04)"),
        ([0x05], "signatureInvalid", "invalid object (0x05)"),
        ([0x07], "bootloaderRefused", "unsupported type (0x07)"),
        ([0x08], "bootloaderRefused", "operation not permitted (0x08)"),
        ([0x0A], "bootloaderRefused", "operation failed (0x0A); its bootloader gives no reason"),
        ([0x0B, 0x01], "bootloaderRefused", "invalid error code (0x01)"),
        ([0x0B, 0x02], "initPacketInvalid", "wrong command format (0x02)"),
        ([0x0B, 0x03], "initPacketInvalid", "unknown command (0x03)"),
        ([0x0B, 0x04], "initPacketInvalid", "init command invalid (0x04)"),
        ([0x0B, 0x05], "versionNotNewer", "device holds a newer one; downgrade is blocked by its bootloader"),
        ([0x0B, 0x06], "hardwareMismatch", "hardware version failure (0x06)"),
        ([0x0B, 0x07], "softdeviceMismatch", "SoftDevice version failure (0x07)"),
        ([0x0B, 0x08], "signatureMissing", "signature missing (0x08)"),
        ([0x0B, 0x09], "initPacketInvalid", "wrong hash type (0x09)"),
        ([0x0B, 0x0A], "bootloaderRefused", "hash failed (0x0A)"),
        ([0x0B, 0x0B], "signatureInvalid", "wrong signature type (0x0B)"),
        ([0x0B, 0x0C], "hashMismatch", "verification failed (0x0C)"),
        ([0x0B, 0x0D], "spaceInsufficient", "insufficient space (0x0D)"),
        ([0x0B, 0x2A], "bootloaderRefused", "unknown code 0x2A"),
        ([0x0B], "bootloaderRefused", "extended error (0x0B)"),
        ([0x00], "bootloaderRefused", "unknown code 0x00"),
        ([0x7F], "bootloaderRefused", "unknown code 0x7F"),
    ]

    @Test("SEC-09, 10, 11, 12, 17 every refusal of the init packet", arguments: initPacketRefusals.indices)
    func refusals(index: Int) {
        let refusal = Self.initPacketRefusals[index]
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.tamper = { bytes, isRequest, answers in
            if isRequest, bytes == [4] { answers = [[0x60, 4] + refusal.code] }
        }
        let error = bench.update(Self.image).failure
        #expect(error?.code == .refused)
        #expect(error?.reason == refusal.reason)
        #expect(error?.deviceCode == refusal.code.reduce(0) { $0 << 8 | Int($1) })
        #expect(error?.message.contains(refusal.text) == true, "\(error?.message ?? "no error")")
        #expect(bench.requests.last == [4], "at once, and no more")
        #expect(bench.links == 1)
    }

    @Test("SEC-17 no room for a further object") func noRoom() {
        let image = SecureSample.image(4096 * 6)
        var bench = SecureBench(SecureSample.device(for: image))
        var creations = 0
        bench.tamper = { bytes, isRequest, answers in
            guard isRequest, bytes.prefix(2) == [1, 2] else { return }
            creations += 1
            if creations == 5 { answers = [[0x60, 1, 4]] }
        }
        let error = bench.update(image).failure
        #expect(error?.reason == "spaceInsufficient")
        #expect(error?.deviceCode == 4)
        #expect(error?.message.contains("24576 bytes") == true)
        #expect(creations == 5)
    }

    @Test("SEC-13 the link drops after the last execute", arguments: [true, false])
    func lastExecute(isAnswered: Bool) {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        if !isAnswered {
            var executions = 0
            bench.tamper = { bytes, isRequest, answers in
                guard isRequest, bytes == [4] else { return }
                executions += 1
                if executions == 5 { answers = [] }
            }
        }
        #expect(bench.update(Self.image) == .success(isAnswered ? .installed : .unanswered(linkLost: true)))
    }

    @Test("the last execute is answered by nobody, and the link stays") func silentAtTheEnd() {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.resetsAtTheEnd = false
        var executions = 0
        bench.tamper = { bytes, isRequest, answers in
            guard isRequest, bytes == [4] else { return }
            executions += 1
            if executions == 5 { answers = [] }
        }
        #expect(bench.update(Self.image) == .success(.unanswered(linkLost: false)))
        #expect(executions == 5)
    }

    @Test("the image has another hash", arguments: [[0x0B, 0x0C], [0x05]] as [[UInt8]])
    func hashMismatch(code: [UInt8]) {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        var executions = 0
        bench.tamper = { bytes, isRequest, answers in
            guard isRequest, bytes == [4] else { return }
            executions += 1
            if executions == 5 { answers = [[0x60, 4] + code] }
        }
        let error = bench.update(Self.image).failure
        #expect(error?.reason == "hashMismatch")
        #expect(error?.deviceCode == code.reduce(0) { $0 << 8 | Int($1) })
    }

    @Test("SEC-14 last object of odd length", arguments: [20, 244])
    func oddLength(link: Int) {
        var bench = SecureBench(SecureSample.device(for: Self.image), maximumWriteLength: link)
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.requests.last { $0[0] == 1 } == [1, 2, 13, 0, 0, 0])
        #expect(bench.packetLengths.last == 13)
        #expect(bench.device.installed == Self.image.firmware)
    }

    @Test("SEC-15 device needs time after the first create", arguments: [true, false])
    func timeAfterCreate(hasReceipts: Bool) {
        var bench = SecureBench(
            SecureSample.device(for: Self.image), receipts: hasReceipts ? nil : SecureDFU.Parameters.Receipts.none)
        bench.latency = .milliseconds(15)
        bench.hears = { object, sinceCreate in object > 0 || sinceCreate >= .milliseconds(350) }
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.links == 1)
        #expect(bench.statistics.objectsResent == 1)
        #expect(bench.learnt.pace?.delay ?? .zero > .zero, "the next part begins with care")
    }

    @Test("a device that needs time after each create", arguments: [true, false])
    func timeAfterEachCreate(hasReceipts: Bool) {
        let image = SecureSample.image(4096 * 40)
        var bench = SecureBench(
            SecureSample.device(for: image), receipts: hasReceipts ? nil : SecureDFU.Parameters.Receipts.none)
        bench.latency = .milliseconds(15)
        bench.hears = { _, sinceCreate in sinceCreate >= .milliseconds(90) }
        #expect(bench.update(image) == .success(.installed))
        #expect(bench.device.installed == image.firmware)
        #expect(bench.statistics.objectsResent <= 5)
    }

    @Test("SEC-16 receipts asked for, never sent", arguments: [4, 12, 17])
    func noReceipts(interval: Int) {
        var device = SecureSample.device(for: Self.image)
        device.sendsReceipts = false
        var bench = SecureBench(device, receipts: .every(interval))
        #expect(bench.update(Self.image) == .success(.installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.learnt.sendsNoReceipts)
        #expect(bench.now < .seconds(5))
        #expect(bench.statistics.objectsResent == 0)
        #expect(bench.requests.last { $0[0] == 2 } == [2, 0, 0], "and none are asked for any more")
    }

    @Test("SEC-18 create of the command object answers 08: once") func stuckOnce() {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        var creations = 0
        bench.tamper = { bytes, isRequest, answers in
            guard isRequest, bytes.prefix(2) == [1, 1] else { return }
            creations += 1
            if creations == 1 { answers = [[0x60, 1, 8]] }
        }
        let first = bench.transfer(Self.image)
        #expect(first.failure?.code == .linkLost)
        #expect(bench.learnt.isStuck)
        #expect(bench.requests.last == [0x0C])
        bench.connect()
        #expect(bench.transfer(Self.image) == .success(.installed))
        #expect(!bench.learnt.isStuck)
    }

    @Test("SEC-18 create of the command object answers 08: always", arguments: [true, false])
    func stuckForGood(knowsAbort: Bool) {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        if !knowsAbort { bench.restart = nil }
        bench.tamper = { bytes, isRequest, answers in
            if isRequest, bytes.prefix(2) == [1, 1] { answers = [[0x60, 1, 8]] }
        }
        let error = bench.update(Self.image).failure
        #expect(error?.code == .refused)
        #expect(error?.reason == "deviceStuck")
        #expect(error?.message.contains("power-cycle the device") == true)
        #expect(bench.links == 2)
        #expect(bench.now < .seconds(10))
    }

    @Test(
        "SEC-19 select answer of a strange shape",
        arguments: [
            [
                0x60, 0x06, 0x01, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x5C, 0xB7, 0x42, 0x3F,
            ], [0x60, 0x06, 0x01], [0x60, 0x06], [0x61, 0x06, 0x01], [],
        ] as [[UInt8]])
    func strangeSelect(answer: [UInt8]) {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.tamper = { bytes, isRequest, answers in
            if isRequest, bytes[0] == 6 { answers = [answer] }
        }
        let error = bench.update(Self.image).failure
        #expect(error?.code == .refused)
        #expect(error?.reason == "unexpectedAnswer")
        let raw = answer.isEmpty ? "an empty value" : answer.hexadecimal
        #expect(error?.message.contains(raw) == true)
        #expect(bench.now < .seconds(30))
    }

    @Test("SEC-19 strange answers to any request end, and soon", arguments: 0..<5, [1, 2, 3, 4, 6] as [UInt8])
    func strangeAnswers(shape: Int, opcode: UInt8) {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.tamper = { bytes, isRequest, answers in
            guard isRequest, bytes[0] == opcode else { return }
            answers = [
                [[], [0x60], [0x60, opcode], [0x61, opcode, 1], Array(repeating: 0xFF, count: 20)][shape]
            ]
        }
        let error = bench.update(Self.image).failure
        #expect(error?.code == .refused || error?.code == .silent)
        #expect(bench.now < .seconds(60))
    }

    @Test("SEC-20 checksum always zero") func checksumAlwaysZero() {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.tamper = { bytes, isRequest, answers in
            if isRequest, bytes == [3] { answers = [[0x60, 3, 1] + [UInt8](repeating: 0, count: 8)] }
        }
        let error = bench.update(Self.image).failure
        #expect(error?.code == .refused)
        #expect(error?.reason == "objectIncomplete")
        #expect(error?.message.contains("kept 0 of 132 bytes") == true)
        #expect(bench.requests.count { $0[0] == 1 } == 3)
        #expect(bench.now < .seconds(30))
    }

    @Test("a device that answers nothing", arguments: [1, 2, 3, 4, 6] as [UInt8])
    func silence(opcode: UInt8) {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.tamper = { bytes, isRequest, answers in
            if isRequest, bytes[0] == opcode { answers = [] }
        }
        let error = bench.update(Self.image).failure
        #expect(error?.code == .silent)
        #expect(error?.reason == "noAnswer")
        #expect(bench.now <= .seconds(60))
    }

    @Test("an answer that is lost is asked for again", arguments: 1...18)
    func lostAnswer(number: Int) {
        var bench = SecureBench(SecureSample.device(for: Self.image))
        bench.resetsAtTheEnd = false
        var requests = 0
        bench.tamper = { bytes, isRequest, answers in
            guard isRequest else { return }
            requests += 1
            if requests == number { answers = [] }
        }
        let result = bench.update(Self.image)
        let isLast = number == 18
        #expect(result == .success(isLast ? .unanswered(linkLost: false) : .installed))
        #expect(bench.device.installed == Self.image.firmware)
        #expect(bench.statistics.requestsRepeated == (isLast ? 0 : 1))
    }
}
