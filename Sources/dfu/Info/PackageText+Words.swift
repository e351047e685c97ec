import DFUPackage

// What stands in a description as a code, in words.

extension Package.Kind {
    var words: String {
        switch self {
        case .nordicSecure: "package for Nordic Secure DFU"
        case .nordicLegacy: "package for Nordic Legacy DFU"
        case .nordic: "package for a Nordic bootloader of unknown generation"
        case .connectSDK: "package of the nRF Connect SDK"
        case .zip: "zip without a known manifest"
        case .mcuboot: "MCUboot image"
        case .intelHex: "Intel HEX"
        case .binary: "bare firmware"
        case .unknown: "no firmware"
        }
    }
}

extension PartDescription {
    var words: String {
        switch role {
        case .application: "application"
        case .bootloader: "bootloader"
        case .softdevice: "SoftDevice"
        case .softdeviceBootloader: "SoftDevice and bootloader"
        case .externalApplication: "application for another chip"
        case .image:
            (imageIndex.map { "image \($0)" } ?? "image") + (slot.map { ", for slot \($0)" } ?? "")
        case .firmware: "firmware"
        }
    }
}

extension InitPacketDescription.Format {
    var words: String {
        switch self {
        case .secure: "Secure DFU"
        case .legacy: "Legacy DFU"
        }
    }
}

extension InitPacketDescription.Check {
    var label: String { algorithm == "CRC16" ? "CRC-16" : "Hash" }

    var words: String {
        let subject = algorithm == "CRC16" ? stated : algorithm
        return switch verdict {
        case .matches: "\(subject) in the init packet matches the firmware"
        case .naturalOrder: "\(subject) in the init packet matches the firmware, but is not reversed"
        case .differs: "\(subject) in the init packet does not match the firmware"
        case .notCheckable: "\(subject) in the init packet, not checkable"
        }
    }
}

extension MCUbootDescription.Digest {
    var words: String {
        switch verdict {
        case .matches: "matches the image"
        case .differs: "does not match the image"
        case .encrypted: "not checkable: the image is encrypted"
        }
    }
}

extension MCUbootDescription.Trailing {
    var words: String {
        switch content {
        case .padding: "padding"
        case .unknown: "something unknown"
        case .swapTrailer: "swap trailer, image \(confirmed == true ? "confirmed" : "to be tested")"
        }
    }
}
