extension MCUbootImage {
    /// What a file has behind its image, where it was padded to the size of a slot.
    public struct Trailing: Sendable, Hashable {
        /// How many bytes.
        public let size: Int
        /// What they are.
        public let content: Content

        /// What the bytes are.
        public enum Content: Sendable, Hashable {
            /// All FF or all 00.
            case padding
            /// The trailer of a slot, which asks the bootloader to swap the image in.
            case swapTrailer(isConfirmed: Bool)
            /// Something else.
            case unknown
        }

        /// Looks at what `bytes` has behind its first `size`; nil for nothing.
        init?(behind size: Int, in bytes: [UInt8]) {
            guard size < bytes.count else { return nil }
            let rest = bytes[size...]
            self.size = rest.count
            if let imageOK = Self.imageOK(in: rest) {
                content = .swapTrailer(isConfirmed: imageOK == 1)
            } else if rest.allSatisfy({ $0 == 0xFF }) || rest.allSatisfy({ $0 == 0 }) {
                content = .padding
            } else {
                content = .unknown
            }
        }

        /// The byte that says whether the image is to stay, of a slot that ends with the swap's magic
        /// (`boot_image_ok_off` of `bootutil_public.c`).
        private static func imageOK(in rest: ArraySlice<UInt8>) -> UInt8? {
            let magic = rest.suffix(16)
            let aligned: [UInt8] = [0x2D, 0xE1, 0x5D, 0x29, 0x41, 0x0B, 0x8D, 0x77, 0x67, 0x9C, 0x11, 0x0F, 0x1F, 0x8A]
            let plain: [UInt8] = [
                0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F, 0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79, 0x80,
            ]
            let alignment: Int
            if magic.elementsEqual(plain) {
                alignment = 8
            } else if magic.count == 16, magic.dropFirst(2).elementsEqual(aligned) {
                alignment = Int(Array(magic.prefix(2)).uint16(at: 0))
            } else {
                return nil
            }
            guard alignment > 0 else { return nil }
            // The slot ends at a multiple of the alignment.
            let distance = (16 + alignment - 1) / alignment * alignment + alignment
            return distance <= rest.count ? rest[rest.endIndex - distance] : nil
        }
    }
}
