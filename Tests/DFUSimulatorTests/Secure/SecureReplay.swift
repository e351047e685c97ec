import DFUPackage
import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// A recorded conversation with the simulated device in the place of the real one: the host says what it said.
struct SecureReplay {
    /// What the recorded device did, and what the simulated one does.
    private(set) var recorded: [TranscriptEntry.DeviceAction] = []
    private(set) var answered: [TranscriptEntry.DeviceAction] = []

    private var device: SecureDevice
    private let parts: [TranscriptFolder.Part]
    private let entries: [TranscriptEntry]
    private var now = Duration.zero
    /// What is to come, the earliest first found by its time.
    private var wakes: [(token: Int, due: Duration)] = []
    private var isConnected = false
    private var mtu = 23
    /// The value of the client characteristic configuration.
    private var configuration: UInt16 = 0
    /// What the host sends.
    private var part: TranscriptFolder.Part
    private var object: SecureDFU.ObjectType = .command
    /// Where the host is in the init packet or the firmware.
    private var position = 0

    init(_ name: String, parts: [TranscriptFolder.Part]) throws {
        self.parts = parts
        entries = try TranscriptFolder.entries(name)
        part = try #require(parts.first { $0.name == "x/ok_v1/app10000" })
        device = try Self.device(for: name)
    }

    /// The device as it was when a conversation was recorded: nRF52832, S132 7.2.0, no application, SDK 17.1.
    private static func device(for name: String) throws -> SecureDevice {
        var settings = SecureDevice.Settings()
        settings.address = "C6:55:44:33:22:10"
        settings.entry = name.contains("buttonless") ? .unbonded : .none
        if name.contains("sdk15") { settings.sdk = .sdk15 }
        let folder = try #require(SharedFolder.path("transcripts/packages"))
        let key = try ProjectFile.bytes(at: folder + "/priv.pem")
        settings.bootloader.signing = .by(try #require(SignatureKey(pem: key)))
        settings.bootloader.savesProgress = name.contains("saveprog")
        settings.bootloader.hasFullProtocol = name.contains("full_protocol")
        settings.bootloader.isSingleBank = name.contains("single_bank")
        settings.bootloader.isDebug = name.contains("on_debug")
        let softdevice: UInt16? = name.contains("no_softdevice") ? nil : 0x0101
        return SecureDevice(settings, memory: SecureMemory(application: nil, softdevice: softdevice))
    }

    /// Says all that the host said. A recording may end before the device is heard again.
    mutating func run() throws {
        defer {
            if answered.count == recorded.count + 1, case .advertise = answered.last { answered.removeLast() }
        }
        for (index, entry) in entries.enumerated() {
            switch entry.content {
            case .host(let action): try perform(action, followedBy: entries[(index + 1)...])
            case .device(.connected), .comment: break
            case .device(let action):
                recorded.append(action)
                follow(action)
            }
        }
    }

    /// The host goes by what the recorded device said.
    private mutating func follow(_ action: TranscriptEntry.DeviceAction) {
        guard case .notify(let bytes) = action, case .selected(_, let reception) = SecureDFU.Response(bytes) else {
            return
        }
        position = Int(reception.offset)
    }

    private mutating func perform(
        _ action: TranscriptEntry.HostAction, followedBy rest: ArraySlice<TranscriptEntry>
    ) throws {
        switch action {
        case .write(let bytes): write(bytes)
        case .packet(let bytes): send(bytes)
        case .packets(let count, let total):
            let bytes = content(total, in: rest)
            position += total
            let usual = (mtu - 3) / 4 * 4
            let size = (total + usual - 1) / usual == count ? usual : (total + count - 1) / count
            for start in stride(from: 0, to: total, by: size) { send(Array(bytes[start..<min(start + size, total)])) }
        case .connect:
            isConnected = true
            mtu = 23
            configuration = 0
            device.connected()
        case .loseLink:
            guard isConnected else { return }
            endLink()
            advertise()
        case .subscribe(let value):
            configuration = value
            guard let listened = device.characteristic(written: false) else { return }
            let isFitting = value == (listened.properties.contains(.indicate) ? 2 : 1)
            if isFitting { perform(device.answer(.subscribe(listened.uuid)).before) }
            answered.append(.writeResponse(0))
        case .exchangeMTU(let offered):
            mtu = device.settings.sdk.mtu(offered: Int(offered))
            answered.append(.mtu(UInt16(mtu)))
        case .powerCycle:
            endLink()
            device.powerCycled()
            started()
        case .enterBootloader:
            endLink()
            device.wantBootloader()
            device.rebooted()
            started()
        case .pass(let milliseconds): pass(.milliseconds(milliseconds))
        case .setFlashTimes(let bytes):
            func time(_ place: Int) -> Duration {
                .microseconds(bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) })
            }
            device.settings.bootloader.writeTime = time(0)
            device.settings.bootloader.eraseTime = time(4)
        case .setPublicKey:
            // It has the key already; only that it starts again is the same.
            answered.append(.start(1))
            advertise()
            device.rebooted()
            started()
        case .readRevision: Issue.record("Secure DFU has no revision")
        }
    }

    // MARK: The host

    private mutating func write(_ bytes: [UInt8]) {
        guard isConnected, let written = device.characteristic(written: true)?.uuid else { return }
        // Between packets and a request there is time for the flash.
        while device.isWriting { wakeNext() }
        note(bytes)
        let answer = device.answer(.write(bytes, to: written))
        perform(answer.before)
        guard case .success = answer.outcome else {
            if case .error(let code) = answer.outcome {
                answered.append(.writeResponse(0x0100 | UInt16(code.rawValue)))
            }
            return
        }
        answered.append(.writeResponse(0))
        perform(device.written(bytes, to: written))
    }

    /// Follows what the host means to send next.
    private mutating func note(_ bytes: [UInt8]) {
        guard device.isInBootloader else { return }
        switch SecureDFU.Request(bytes) {
        case .create(let type, _)?:
            object = type
            if type == .command { position = 0 }
        case .select(let type)?: object = type
        default: break
        }
    }

    private mutating func send(_ bytes: [UInt8]) {
        guard isConnected else { return }
        perform(device.written(bytes, to: .packet))
    }

    /// The bytes of packets that stand in the recording by their number alone: those of which the next checksum holds.
    private mutating func content(_ count: Int, in rest: ArraySlice<TranscriptEntry>) -> [UInt8] {
        let before = device.received(object)
        let state = rest.lazy.compactMap { Self.reception(in: $0) }.first { $0.offset > 0 }
        for part in [part] + parts {
            let whole = object == .command ? part.initPacket : part.firmware
            for variant in Self.variants(of: whole) {
                for start in [before.count, position] + Array(stride(from: 0, to: variant.count, by: 4096)) {
                    let bytes = Array(variant.dropFirst(start).prefix(count))
                    guard let state, bytes.count == count, Int(state.offset) <= before.count + count,
                        CRC32.checksum((before + bytes).prefix(Int(state.offset))) == state.crc32
                    else { continue }
                    self.part = part
                    return bytes
                }
            }
        }
        let whole = object == .command ? part.initPacket : part.firmware
        let bytes = Array(whole.dropFirst(before.count).prefix(count))
        return bytes + [UInt8](repeating: 0, count: count - bytes.count)
    }

    /// An image, and what became of it where a byte was changed on the way, or the fifth packet was left out.
    private static func variants(of whole: [UInt8]) -> [[UInt8]] {
        guard whole.count > 5000 else { return [whole] }
        var changed = (whole, whole)
        changed.0[1000] ^= 0x01
        changed.1[5000] ^= 0x04
        return [whole, changed.0, changed.1, Array(whole[..<976] + whole[1220...])]
    }

    private static func reception(in entry: TranscriptEntry) -> SecureDFU.Reception? {
        guard case .device(.notify(let bytes)) = entry.content else { return nil }
        switch SecureDFU.Response(bytes) {
        case .checksum(let reception), .selected(_, let reception): return reception
        default: return nil
        }
    }

    // MARK: The device

    private mutating func perform(_ actions: [DeviceAction]) {
        for action in actions {
            switch action {
            case .notify(let bytes, _, _): answered.append(device.isInBootloader ? .notify(bytes) : .indicate(bytes))
            case .disconnect:
                answered.append(.disconnect(0x13))
                endLink()
            case .reboot:
                endLink()
                wakes = []
                device.rebooted()
                started()
            case .wake(let token, let delay): wakes.append((token, now + delay))
            }
        }
    }

    private mutating func endLink() {
        if isConnected { device.disconnected() }
        isConnected = false
    }

    private mutating func started() {
        answered.append(.start(device.isInBootloader ? 1 : 0))
        advertise()
        perform(device.started())
    }

    private mutating func advertise() {
        // Applications without DFU were not there to be heard.
        guard device.isInBootloader || device.settings.entry != .none, let heard = device.advertisements.first,
            let address = BluetoothAddress(heard.address), let name = heard.name
        else { return }
        let named = [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8)
        let services: [UInt8] = [0x03, device.isInBootloader ? 0x02 : 0x03, 0x59, 0xFE]
        answered.append(
            .advertise(
                address.octets.reversed() + [0x02, 0x01, 0x06]
                    + (device.isInBootloader ? services + named : named + services)))
    }

    private mutating func pass(_ time: Duration) {
        let end = now + time
        while let next = wakes.map(\.due).min(), next <= end { wakeNext() }
        now = end
    }

    private mutating func wakeNext() {
        guard let index = wakes.indices.min(by: { wakes[$0].due < wakes[$1].due }) else {
            Issue.record("a flash at work says when it is done")
            return
        }
        let wake = wakes.remove(at: index)
        now = max(now, wake.due)
        perform(device.woken(wake.token))
    }
}

extension SecureDevice {
    /// What is written with requests and heard, or only the latter.
    fileprivate func characteristic(written: Bool) -> GATTCharacteristic? {
        services.flatMap(\.characteristics).first {
            !$0.properties.isDisjoint(with: [.notify, .indicate]) && (!written || $0.properties.contains(.write))
        }
    }
}
