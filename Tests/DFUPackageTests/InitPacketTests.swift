import TestSupport
import Testing

@testable import DFUPackage

@Suite struct InitPacketTests {
    @Test func oneOfUnknownFieldsIsRefusedByItsSize() {
        // Field 15, one byte of varint: two bytes a field.
        let bytes = [UInt8](repeating: 0x78, count: InitPacket.maximumSize + 1)
        #expect(
            throws: PackageError(
                .excessive, reason: "initPacketTooLarge",
                message: "the init packet has 65537 bytes, past the limit of 65536")
        ) {
            try InitPacket(decoding: bytes)
        }
    }

    private static let image: [UInt8] = Array(0..<20)

    /// For the image 00 … 13: type application, firmware 1, hardware 52, SoftDevice 0x100, unsigned.
    private static let secure =
        "0a3c08011238080110341a0280022000280030003814422408031220"
        + "e879e72a4829ecca04b4baf50b098c14a61f0ac742d412032f41607f57bfaee74800"

    private static let legacy = "5200ffffffffffff0100feff745a"

    @Test func secureFieldByField() throws {
        let bytes = Self.bytes(Self.secure)
        guard case .secure(let packet) = try InitPacket(decoding: bytes) else {
            Issue.record("not taken for a secure one")
            return
        }
        #expect(packet.firmwareVersion == 1)
        #expect(packet.hardwareVersion == 52)
        #expect(packet.softdevices == [0x100])
        #expect(packet.imageType == .application)
        #expect(packet.softdeviceSize == 0)
        #expect(packet.bootloaderSize == 0)
        #expect(packet.applicationSize == 20)
        #expect(packet.hashType == .sha256)
        #expect(packet.hash == Checksum.digest(.sha256, Self.image).reversed())
        #expect(packet.isDebug == false)
        #expect(packet.signature == nil)
        #expect(packet.bootValidations == [])
        #expect(packet.signedRange == 6..<62)
        #expect(
            packet.fields.map(\.name) == [
                "op_code", "fw_version", "hw_version", "sd_req", "type", "sd_size", "bl_size", "app_size",
                "hash.hash_type",
                "hash.hash", "is_debug",
            ])
        #expect(packet.fields.map(\.value).prefix(8) == ["INIT", "1", "52", "256", "APPLICATION", "0", "0", "20"])
        let ranges = packet.fields.map { bytes[$0.range].map { $0 } }
        #expect(ranges.prefix(4) == [[8, 1], [8, 1], [0x10, 52], [0x1A, 2, 0x80, 2]])
        #expect(ranges.last == [0x48, 0])
    }

    @Test func legacyFieldByField() throws {
        guard case .legacy(let packet) = try InitPacket(decoding: Self.bytes(Self.legacy)) else {
            Issue.record("not taken for a legacy one")
            return
        }
        #expect(packet.deviceType == 0x52)
        #expect(packet.deviceRevision == 0xFFFF)
        #expect(packet.applicationVersion == 0xFFFF_FFFF)
        #expect(packet.softdevices == [0xFFFE])
        #expect(packet.check == .crc16(0x5A74))
        #expect(packet.signedRange == nil)
        #expect(
            packet.fields.map(\.name) == [
                "device_type", "device_revision", "application_version", "softdevice_len", "softdevice",
                "firmware_crc16",
            ])
        #expect(packet.fields.map(\.range) == [0..<2, 2..<4, 4..<8, 8..<10, 10..<12, 12..<14])
    }

    @Test func legacyOfTwoBytesIsACRCAlone() throws {
        let packet = try LegacyInitPacket(decoding: [0x74, 0x5A])
        #expect(packet.check == .crc16(0x5A74))
        #expect(packet.deviceType == nil)
        #expect(packet.softdevices == [])
        #expect(packet.fields == [InitPacket.Field(name: "firmware_crc16", value: "23156", range: 0..<2)])
    }

    @Test func legacyExtendedForms() throws {
        let prefix = Self.bytes("52000100020000000200" + "64006500")
        let hash = [UInt8](1...32)
        let signature = [UInt8](repeating: 7, count: 64)
        let crc = try LegacyInitPacket(decoding: prefix + [0, 0, 0, 0, 0x34, 0x12])
        #expect(crc.check == .extendedCRC16(0x1234))
        #expect(crc.softdevices == [100, 101])
        let hashed = try LegacyInitPacket(decoding: prefix + [1, 0, 0, 0, 20, 0, 0, 0] + hash)
        #expect(hashed.check == .sha256(size: 20, hash: hash))
        let signed = try LegacyInitPacket(decoding: prefix + [2, 0, 0, 0, 20, 0, 0, 0] + hash + signature)
        #expect(signed.check == .signed(size: 20, hash: hash, signature: signature))
        #expect(signed.signedRange == 0..<prefix.count + 40)
        #expect(signed.fields.last?.range == prefix.count + 40..<prefix.count + 104)
    }

    /// What one byte more or less, or another number in front, makes of it is no init packet.
    @Test(arguments: [
        "", "5a", "00009bb5", "5200ffffffffffff0100feff74", "5200ffffffffffff0100feff745a00",
        "5200ffffffffffff0200feff745a", "5200ffffffffffff0100feff010000001234", "ffff", "0000",
    ])
    func lengths(_ text: String) {
        let bytes = Self.bytes(text)
        #expect(LegacyInitPacket.hasItsShape(bytes) == (bytes.count == 2))
    }

    /// Cut anywhere, it is an error and never a smaller packet.
    @Test func secureCutShort() throws {
        let bytes = Self.bytes(Self.secure)
        for count in 0..<bytes.count where count != 2 {
            let error = #expect(throws: PackageError.self) { try InitPacket(decoding: Array(bytes.prefix(count))) }
            #expect(error?.code == .malformed)
            #expect(error?.reason == "initPacketMalformed", "cut to \(count)")
        }
    }

    /// Every single flipped bit gives a packet or an error, and never a trap; what it gives covers the same bytes.
    @Test func secureFlipped() throws {
        let bytes = SampleFirmware.Secure(signature: [UInt8](repeating: 9, count: 64)).packet(for: Self.image)
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            if let packet = try? InitPacket(decoding: flipped) {
                #expect(packet.bytes == flipped)
                #expect(packet.fields.allSatisfy { $0.range.upperBound <= flipped.count })
            }
        }
    }

    @Test func unknownFieldsAndCodesAreKept() throws {
        var sample = SampleFirmware.Secure(type: 9, extra: SampleFirmware.Wire.bytes(7, [1, 2, 3]))
        sample.extra += SampleFirmware.Wire.number(15, 300) + [0x7D, 1, 2, 3, 4]
        let packet = try SecureInitPacket(decoding: sample.packet(for: Self.image))
        #expect(packet.imageType?.description == "unknown (9)")
        let unknown = packet.fields.filter { $0.name.hasPrefix("unknown") }
        #expect(unknown.map(\.name) == ["unknown field 7", "unknown field 15", "unknown field 15"])
        #expect(unknown.map(\.value) == ["010203", "300", "01020304"])
    }

    @Test func signedPacket() throws {
        let signature = [UInt8](repeating: 9, count: 64)
        let packet = try SecureInitPacket(decoding: SampleFirmware.Secure(signature: signature).packet(for: Self.image))
        #expect(packet.signature == SecureInitPacket.Signature(type: .ecdsaP256SHA256, bytes: signature))
        let unsigned = try SecureInitPacket(decoding: SampleFirmware.secure(Self.image))
        #expect(packet.bytes[packet.signedRange] == unsigned.bytes[unsigned.signedRange])
    }

    /// The bootloader would take the last of two; a check could have seen the first.
    @Test(arguments: [
        ("0a04080112000a0408011200", "a second command"), ("0a06080108011200", "op_code a second time"),
        ("0a0608011200 1200", "init a second time"), ("0a08080112040801 0802", "fw_version a second time"),
        ("0a0a0801120620002001 3800", "type a second time"), ("0a0c0801120842024800 42024800", "hash a second time"),
    ])
    func fieldsTwice(_ text: String, _ words: String) {
        let error = #expect(throws: PackageError.self) {
            try SecureInitPacket(decoding: Self.bytes(text.filter { $0 != " " }))
        }
        #expect(error?.reason == "initPacketMalformed")
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        ("0a 04 0800 1a00", "notAnInitCommand", "command 0 "), ("0a 02 0801", "notAnInitCommand", "command 1 "),
        ("0a 0b 0801 1207 08ffffffff7f 00", "initPacketMalformed", "fw_version"),
        ("0a 0f 0801 120b 08ffffffffffffffffff 7f", "initPacketMalformed", "64 bits"),
        ("0b 00", "initPacketMalformed", "wire type 3"), ("0800", "initPacketMalformed", "neither command"),
        ("12 06 0a04 0801 1200", "initPacketMalformed", "lacks command, signature_type or signature"),
    ])
    func broken(_ text: String, _ reason: String, _ words: String) {
        let error = #expect(throws: PackageError.self) {
            try SecureInitPacket(decoding: Self.bytes(text.filter { $0 != " " }))
        }
        #expect(error?.reason == reason)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}
