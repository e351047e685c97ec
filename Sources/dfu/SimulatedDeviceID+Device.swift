import DFUKit
import DFUPackage
import DFUProtocol
import DFUSimulator
import DFUTransport

extension SimulatedDeviceID {
    /// Makes the device, and what keeps it in files; they are read and written here.
    ///
    /// - Parameters:
    ///   - address: Where it is found at first.
    ///   - name: What it advertises; nil: what is usual.
    ///   - profile: What a band speaks.
    func keeper(address: String, name: String? = nil, profile: DeviceProfile) throws(Failure) -> any DeviceKeeping {
        switch kind {
        case .band: try DeviceKeeper(band(address, profile), by: self)
        case .secure: try DeviceKeeper(secureDevice(address, name), by: self)
        case .legacy, .smp: preconditionFailure("it is not in this version, and was refused")
        }
    }

    private func band(_ address: String, _ profile: DeviceProfile) throws(Failure) -> FaultyBand {
        var settings = Band.Settings()
        settings.address = address
        settings.profile = profile
        if let version { settings.version = try Self.bandVersion(version) }
        if let battery { settings.batteryTenths = UInt8(battery / 10) }
        if let mtu { settings.packetLimit = UInt8(min(mtu - 3, 244)) }
        let memory = try DeviceKeeper<FaultyBand>.memory(stateFile)
        let faults = try script { bytes throws(FaultScriptError) in try FaultScript(json: bytes) }
        return FaultyBand(Band(settings, memory: memory), faults: faults ?? FaultScript())
    }

    private func secureDevice(_ address: String, _ name: String?) throws(Failure) -> FaultySecureDevice {
        var settings = SecureDevice.Settings()
        settings.address = address
        if let name { settings.name = name }
        settings.sdk = secure.sdk.generation
        settings.entry = secure.buttonless.entry
        settings.takesName = secure.sdk != .sdk12
        settings.startsInBootloader = secure.start == .bootloader
        settings.version = version
        settings.bootloader.hardwareVersion = secure.hardware.map(UInt32.init)
        settings.bootloader.checksSoftdevice = secure.softdevice != nil
        settings.bootloader.isSingleBank = secure.bank == .single
        if let file = secure.keyFile { settings.bootloader.signing = .by(try Self.key(file)) }
        let softdevice = (secure.softdevice ?? .id(0x0100)).id
        let number = version.flatMap { UInt32($0) } ?? 0
        let fresh = SecureMemory(application: SecureMemory.Application(version: number), softdevice: softdevice)
        let memory = try DeviceKeeper<FaultySecureDevice>.memory(stateFile)
        let faults = try script { bytes throws(FaultScriptError) in try SecureFaultScript(json: bytes) }
        return FaultySecureDevice(
            SecureDevice(settings, memory: memory ?? fresh), faults: faults ?? SecureFaultScript())
    }

    private static func bandVersion(_ text: String) throws(Failure) -> BlockAck.Version {
        guard let bytes = try? FirmwareVersion(text)?.bytes() else {
            throw .usage("sim: the version '\(text)' is not three numbers from 0 to 255, as 1.0.0")
        }
        return BlockAck.Version(bytes[0], bytes[1], bytes[2])
    }

    private static func key(_ path: String) throws(Failure) -> SignatureKey {
        guard let key = SignatureKey(pem: try InputFile.read(path)) else {
            throw Failure(.config, subject: path, "this is no key of ECDSA over P-256 in PEM")
        }
        return key
    }

    private func script<Script>(
        _ read: ([UInt8]) throws(FaultScriptError) -> Script
    ) throws(Failure) -> Script? {
        guard let faultsFile else { return nil }
        let bytes = try InputFile.read(faultsFile)
        do throws(FaultScriptError) {
            return try read(bytes)
        } catch {
            throw Failure(.config, subject: faultsFile, error.message)
        }
    }
}
