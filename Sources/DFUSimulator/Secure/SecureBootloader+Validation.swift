import DFUPackage
import DFUProtocol

extension SecureBootloader {
    /// Why something is refused.
    enum Refusal: Error, Hashable {
        case result(SecureDFU.ResultCode)
        /// A generation without extended errors has a result for it.
        case extended(SecureDFU.ExtendedError)
    }

    /// The init packet that was received, where nothing is wrong with it (nRF5 SDK 17: `nrf_dfu_validation_prevalidate`).
    ///
    /// An application that has to make room for the new one is not valid any more afterwards.
    mutating func checkedInitPacket() throws(Refusal) -> SecureInitPacket {
        guard let packet = try? SecureInitPacket(decoding: reception.command) else { throw .result(.invalidObject) }
        try checkSignature(of: packet)
        guard let type = packet.imageType, type != .externalApplication else { throw .extended(.initCommandInvalid) }
        guard packet.hashType == .sha256 else { throw .extended(.wrongHashType) }
        if !(settings.isDebug && packet.isDebug == true) {
            try checkHardware(of: packet)
            try checkSoftdevice(of: packet)
            try checkVersion(of: packet, type)
        }
        try checkSize(of: packet, type)
        return packet
    }

    private func checkSignature(of packet: SecureInitPacket) throws(Refusal) {
        guard case .by(let key) = settings.signing else { return }
        guard let signature = packet.signature else { throw .extended(.signatureMissing) }
        guard signature.type == .ecdsaP256SHA256 else { throw .extended(.wrongSignatureType) }
        guard signature.bytes.count == 64 else { throw .result(.operationFailed) }
        guard key.verifies(signature.bytes, of: packet.bytes[packet.signedRange]) else { throw .result(.invalidObject) }
    }

    private func checkHardware(of packet: SecureInitPacket) throws(Refusal) {
        guard let hardware = packet.hardwareVersion else { throw .extended(.initCommandInvalid) }
        guard settings.hardwareVersion ?? hardware == hardware else { throw .extended(.hardwareVersion) }
    }

    private func checkSoftdevice(of packet: SecureInitPacket) throws(Refusal) {
        // The first entry 0 is for an application that overwrites the SoftDevice.
        guard settings.checksSoftdevice, packet.softdevices.first != 0 else { return }
        let isMatch = memory.softdevice.map { packet.softdevices.contains(UInt32($0)) } ?? packet.softdevices.isEmpty
        guard isMatch else { throw .extended(.softdeviceVersion) }
    }

    private func checkVersion(of packet: SecureInitPacket, _ type: SecureInitPacket.ImageType) throws(Refusal) {
        guard let version = packet.firmwareVersion else {
            guard type == .softdevice else { throw .extended(.initCommandInvalid) }
            return
        }
        let isNew =
            switch type {
            case .bootloader, .softdeviceBootloader: version > memory.bootloaderVersion
            default:
                version > memory.applicationVersion
                    || version == memory.applicationVersion && settings.acceptsSameVersion
            }
        guard isNew else { throw .extended(.firmwareVersion) }
    }

    private mutating func checkSize(
        of packet: SecureInitPacket, _ type: SecureInitPacket.ImageType
    ) throws(Refusal) {
        let parts =
            switch type {
            case .softdevice: [packet.softdeviceSize]
            case .bootloader: [packet.bootloaderSize]
            case .softdeviceBootloader: [packet.softdeviceSize, packet.bootloaderSize]
            default: [packet.applicationSize]
            }
        guard parts.allSatisfy({ $0 ?? 0 > 0 }) else { throw .extended(.initCommandInvalid) }
        if type != .application, type != .softdevice,
            Int(packet.bootloaderSize ?? 0) > settings.bootloaderCapacity
        {
            throw .result(.insufficientResources)
        }
        let needed = pages(packet.firmwareSize)
        guard needed <= settings.capacity else { throw .result(.insufficientResources) }
        guard let old = memory.application else { return }
        if type == .application && settings.isSingleBank || needed + pages(old.firmware.count) > settings.capacity {
            memory.application = nil
        }
    }

    private func pages(_ bytes: Int) -> Int {
        (bytes + Settings.pageSize - 1) / Settings.pageSize * Settings.pageSize
    }
}

extension SecureInitPacket {
    /// The bytes of the image that it announces.
    var firmwareSize: Int {
        [softdeviceSize, bootloaderSize, applicationSize].reduce(0) { $0 + Int($1 ?? 0) }
    }
}
