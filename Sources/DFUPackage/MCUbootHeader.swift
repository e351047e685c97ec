extension MCUbootImage {
    /// The first 32 bytes, `struct image_header`; all numbers little-endian.
    public struct Header: Sendable, Hashable {
        /// Its length in the file.
        public static let length = 32

        /// Where the image is to be put in RAM (flag `ramLoad`) or has to lie in flash (flag `romFixed`).
        public let loadAddress: UInt32
        /// Bytes from the start to the program: the header and what pads it.
        public let size: Int
        /// Bytes of the protected TLV area, its own four included; 0 for none.
        public let protectedTLVSize: Int
        /// Bytes of the program.
        public let imageSize: Int
        /// What kind of program it is.
        public let flags: Flags
        /// The version; its fourth number is the build.
        public let version: FirmwareVersion

        /// Reads 32 bytes, whose magic was looked at before.
        init(_ bytes: ArraySlice<UInt8>) {
            let bytes = Array(bytes)
            loadAddress = bytes.uint32(at: 4)
            size = Int(bytes.uint16(at: 8))
            protectedTLVSize = Int(bytes.uint16(at: 10))
            imageSize = Int(bytes.uint32(at: 12))
            flags = Flags(rawValue: bytes.uint32(at: 16))
            version = FirmwareVersion(mcuboot: bytes[20..<28])
        }

        var protectedTLVOffset: Int { size + imageSize }

        var unsignedTLVOffset: Int { protectedTLVOffset + protectedTLVSize }
    }

    /// The header's flags, `IMAGE_F_…`.
    public struct Flags: OptionSet, Sendable, Hashable {
        /// The number in the header.
        public let rawValue: UInt32

        /// The flags of a number in a header.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Position-independent code.
        public static let positionIndependent = Flags(rawValue: 0x1)
        /// Encrypted with AES-128.
        public static let encryptedAES128 = Flags(rawValue: 0x4)
        /// Encrypted with AES-256.
        public static let encryptedAES256 = Flags(rawValue: 0x8)
        /// Not to be started by the bootloader.
        public static let nonBootable = Flags(rawValue: 0x10)
        /// To be copied to RAM, to `loadAddress`.
        public static let ramLoad = Flags(rawValue: 0x20)
        /// To be in flash at `loadAddress`.
        public static let romFixed = Flags(rawValue: 0x100)
        /// Compressed with LZMA1.
        public static let compressedLZMA1 = Flags(rawValue: 0x200)
        /// Compressed with LZMA2.
        public static let compressedLZMA2 = Flags(rawValue: 0x400)
        /// Compressed behind a filter for ARM Thumb code.
        public static let armThumbFilter = Flags(rawValue: 0x800)

        /// Encrypted by either cipher.
        public var isEncrypted: Bool { !isDisjoint(with: [.encryptedAES128, .encryptedAES256]) }
    }
}

extension FirmwareVersion {
    /// `struct image_version`: major and minor of one byte, revision of two, build of four. A build of 0 is not shown.
    init(mcuboot bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        let (revision, build) = (bytes.uint16(at: 2), bytes.uint32(at: 4))
        let text = "\(bytes[0]).\(bytes[1]).\(revision)"
        self.init(
            text: build == 0 ? text : "\(text)+\(build)",
            numbers: [Int(bytes[0]), Int(bytes[1]), Int(revision), Int(build)],
            build: build == 0 ? nil : "\(build)")
    }
}

extension [UInt8] {
    func uint16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }

    func uint32(at offset: Int) -> UInt32 {
        UInt32(uint16(at: offset)) | UInt32(uint16(at: offset + 2)) << 16
    }
}
