package import DFUPackage

/// A generation of Nordic's bootloader: what it answers, and what it keeps over a lost link.
public enum SecureSDK: Int, Sendable, Hashable, Codable, CaseIterable {
    /// nRF5 SDK 12: no extended errors, no abort, objects of 256 bytes for the init packet, an MTU of 23.
    case sdk12 = 12
    /// SDK 15: a lost link changes nothing.
    case sdk15 = 15
    /// SDK 16: a lost link takes it back to what its flash holds.
    case sdk16 = 16
    /// SDK 17: as SDK 16.
    case sdk17 = 17

    /// The most bytes of an init packet.
    var commandSize: Int { self == .sdk12 ? 256 : 512 }
    /// Whether a refusal says more than a result.
    var hasExtendedErrors: Bool { self != .sdk12 }
    /// Whether what it has in RAM outlives a link.
    var keepsWorkOverLinks: Bool { rawValue < 16 }

    /// The MTU that it agrees on with a host that offers this one: from SDK 15 on up to 247, with packets made of words.
    package func mtu(offered: Int) -> Int {
        self == .sdk12 ? 23 : (min(offered, 247) - 3) / 4 * 4 + 3
    }
}

extension SecureBootloader {
    /// What kind of bootloader it is.
    package struct Settings: Sendable, Hashable {
        /// Which generation.
        package var sdk = SecureSDK.sdk17
        /// The hardware that init packets have to be for; nil: any.
        package var hardwareVersion: UInt32? = 52
        /// Whether one of an init packet's SoftDevices has to be the device's.
        package var checksSoftdevice = true
        /// How init packets have to be signed.
        package var signing = Signing.none
        /// Whether packages for debugging are taken without a look at versions and hardware.
        package var isDebug = false
        /// Whether the same version of an application is taken again.
        package var acceptsSameVersion = true
        /// The bytes that applications have, the old one and the one that is being received together (nRF52832 with
        /// S132: 0x26000 to 0x78000, less the 12 KiB that stay an application's own).
        package var capacity = 323_584
        /// The most bytes of a bootloader.
        package var bootloaderCapacity = 24_576
        /// Whether an application is overwritten by the next one even where there is room for both.
        package var isSingleBank = false
        /// Whether each data object that was executed is noted in flash (`NRF_DFU_SAVE_PROGRESS_IN_FLASH`); SDK 12 does.
        package var savesProgress = false
        /// Whether a data object that was executed is refused (08) when it is executed again, as some builds do.
        package var refusesSecondExecute = false
        /// Whether it knows the requests that only serial links use, which it answers without a payload then.
        package var hasFullProtocol = false
        /// How long the erasing of a page takes; packets wait for it.
        package var eraseTime = Duration.zero
        /// How long the writing of a packet takes.
        package var writeTime = Duration.zero

        package init() {}

        /// How init packets have to be signed.
        package enum Signing: Sendable, Hashable {
            /// Not at all, and a signature is not looked at.
            case none
            /// By the owner of this key.
            case by(SignatureKey)
        }

        /// What an object of data holds at most: a page.
        package static let pageSize = 4096
        /// How many pieces of work the flash queues (`NRF_FSTORAGE_SD_QUEUE_SIZE`); what comes beyond is lost.
        static let flashQueue = 16
    }
}
