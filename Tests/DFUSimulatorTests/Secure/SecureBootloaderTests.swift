import DFUPackage
import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

@Suite struct SecureBootloaderTests {
    private func loader(_ sdk: SecureSDK = .sdk17, _ change: (inout SecureDevice.Settings) -> Void = { _ in })
        -> SecureBench
    {
        var settings = SecureDevice.Settings()
        settings.startsInBootloader = true
        settings.sdk = sdk
        change(&settings)
        return SecureBench(SecureDevice(settings))
    }

    private static let done: [[UInt8]] = [[0x60, 0x04, 0x01]]

    // MARK: Generations

    @Test(arguments: [(SecureSDK.sdk12, UInt8(1)), (.sdk15, 2), (.sdk16, 2), (.sdk17, 2)])
    func anInitPacketHasAMaximum(_ sdk: SecureSDK, _ high: UInt8) {
        var bench = loader(sdk)
        #expect(bench.request([0x06, 0x01]).first?[3...6] == [0, high, 0, 0])
    }

    @Test func sdk12KnowsNoAbortAndNoUnknownOpcode() {
        var bench = loader(.sdk12)
        #expect(bench.request([0x0C]) == [[0x60, 0x0C, 0x03]])
        #expect(bench.request([0x09]) == [[0x60, 0x09, 0x03]])
    }

    @Test func sdk12WantsWholeRequests() {
        var bench = loader(.sdk12)
        #expect(bench.request([0x01, 0x01, 0x14]) == [[0x60, 0x01, 0x03]])
    }

    @Test func sdk12SaysNoMoreThanAResult() {
        var bench = loader(.sdk12)
        #expect(bench.object(.command, SampleImage(hardware: 1).initPacket) == [[0x60, 0x04, 0x0A]])
        var image = SampleImage()
        let initPacket = image.initPacket
        image.firmware[0] ^= 1
        _ = bench.object(.command, initPacket)
        _ = bench.object(.data, Array(image.firmware[..<4096]))
        #expect(bench.object(.data, Array(image.firmware[4096...])) == [[0x60, 0x04, 0x05]])
    }

    @Test func sdk12GoesOnAtTheLastObjectAfterAPowerCycle() {
        // Without an application that would run instead.
        var bench = loader(.sdk12) { $0.bootloader.isSingleBank = true }
        let image = SampleImage()
        _ = bench.object(.command, image.initPacket)
        _ = bench.object(.data, Array(image.firmware[..<4096]))
        bench.restart(powerless: true)
        #expect(bench.request([0x06, 0x02]).first?[7...10] == [0, 0x10, 0, 0])
    }

    @Test(arguments: [(SecureSDK.sdk15, UInt8(4)), (.sdk16, 0), (.sdk17, 0)])
    func aLostLinkTakesTheWorkAlongFromSDK16On(_ sdk: SecureSDK, _ kept: UInt8) {
        var bench = loader(sdk)
        bench.request(SecureDFU.Request.create(.command, size: 8).encoded)
        bench.send([1, 2, 3, 4])
        bench.device.disconnected()
        bench.connect()
        #expect(bench.request([0x06, 0x01]).first?[7] == kept)
    }

    @Test(arguments: [(SecureSDK.sdk15, false), (.sdk16, true), (.sdk17, true)])
    func anAbortEndsTheLinkOrOnlyRestarts(_ sdk: SecureSDK, _ isDisconnecting: Bool) {
        var bench = loader(sdk)
        #expect(bench.request([0x0C]).isEmpty)
        #expect(bench.did.contains(.disconnect(after: .milliseconds(100))) == isDisconnecting)
        #expect(bench.did.last == .reboot(after: .milliseconds(100), offAir: .milliseconds(500)))
    }

    @Test(arguments: [(23, 23), (24, 23), (27, 27), (64, 63), (185, 183), (188, 187), (247, 247), (517, 247)])
    func theMTULeavesRoomForWords(_ offered: Int, _ agreed: Int) {
        #expect(SecureSDK.sdk17.mtu(offered: offered) == agreed)
        #expect(SecureSDK.sdk12.mtu(offered: offered) == 23)
    }

    // MARK: Rules

    @Test func aSecondExecuteIsRefusedWhereTheBuildDoesSo() {
        var bench = loader(.sdk15) { $0.bootloader.refusesSecondExecute = true }
        let image = SampleImage()
        _ = bench.object(.command, image.initPacket)
        #expect(bench.object(.data, Array(image.firmware[..<4096])) == Self.done)
        #expect(bench.request([0x04]) == [[0x60, 0x04, 0x08]])
    }

    @Test func theSameVersionIsRefusedWhereTheBuildDoesSo() {
        var bench = loader { $0.bootloader.acceptsSameVersion = false }
        #expect(bench.object(.command, SampleImage(version: 1).initPacket) == [[0x60, 0x04, 0x0B, 0x05]])
    }

    @Test(
        arguments: [
            (SampleImage(version: 0), [0x0B, 0x05]), (SampleImage(hardware: 51), [0x0B, 0x06]),
            (SampleImage(softdevice: 0x0101), [0x0B, 0x07]), (SampleImage(softdevice: 0xFFFE), [0x0B, 0x07]),
            (SampleImage(softdevice: 0), [0x01]), (SampleImage(type: 4), [0x0B, 0x04]),
            (SampleImage(type: 2), [0x0B, 0x04]),
            (SampleImage(firmware: []), [0x0B, 0x04]),
            (SampleImage(firmware: .init(repeating: 0, count: 330_000)), [0x04]),
        ] as [(SampleImage, [UInt8])])
    func anInitPacketIsChecked(_ image: SampleImage, _ result: [UInt8]) {
        var bench = loader()
        #expect(bench.object(.command, image.initPacket) == [[0x60, 0x04] + result])
    }

    @Test func withAKeyAPackageWithoutASignatureIsRefused() throws {
        let key = try #require(SignatureKey(pem: Array(Self.key.utf8)))
        var bench = loader { $0.bootloader.signing = .by(key) }
        #expect(bench.object(.command, SampleImage().initPacket) == [[0x60, 0x04, 0x0B, 0x08]])
    }

    /// What the key's owner has made of `SampleImage()` with `openssl dgst -sha256 -sign`: R then S, little-endian.
    private static let signature =
        ([
            0x253dfc63383c3ea2, 0xf44f0edd90bbc52e, 0x1cefb97b6b21e8e3, 0x52572ba4f3ba34dc,
            0x28d73fb7a6af5936, 0xcea6a8dbc1fae55b, 0xa965f1cc49e11937, 0xddca2b1182d63615,
        ] as [UInt64])
        .flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }

    @Test(
        arguments: [
            (SampleImage(signature: (0, signature)), [0x01]),
            (SampleImage(version: 3, signature: (0, signature)), [0x05]),
            (SampleImage(signature: (0, [UInt8](repeating: 1, count: 64))), [0x05]),
            (SampleImage(signature: (0, Array(signature.dropLast()))), [0x0A]),
            (SampleImage(signature: (1, signature)), [0x0B, 0x0B]),
        ] as [(SampleImage, [UInt8])])
    func withAKeyTheSignatureHasToBeItsOwners(_ image: SampleImage, _ result: [UInt8]) throws {
        let key = try #require(SignatureKey(pem: Array(Self.key.utf8)))
        var bench = loader { $0.bootloader.signing = .by(key) }
        #expect(bench.object(.command, image.initPacket) == [[0x60, 0x04] + result])
    }

    @Test func hardwareAndSoftdeviceAreNotLookedAtWhereTheyAreLeftOut() {
        var bench = loader {
            $0.bootloader.hardwareVersion = nil
            $0.bootloader.checksSoftdevice = false
        }
        #expect(bench.object(.command, SampleImage(hardware: 7, softdevice: 0x23).initPacket) == Self.done)
    }

    /// A throw-away key, made with `openssl ecparam -name prime256v1 -genkey`.
    private static let key = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEmZV2hsl62mK44AkyD3UzMn6B0tHm
        9I2q0QCrT9RhcoY7YEQxPMV+pI8I13ZLdRAyV9vVjsBDDI5mxmCUT+NhZw==
        -----END PUBLIC KEY-----
        """
}
