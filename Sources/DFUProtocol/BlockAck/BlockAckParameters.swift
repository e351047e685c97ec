/// The block-ack wristband protocol: blocks of 2048 bytes in packets of 20, an acknowledgement a block.
public enum BlockAck {}

extension BlockAck {
    /// What differs between devices that speak block-ack; a device profile holds one.
    ///
    /// The defaults are the built-in band's.
    public struct Parameters: Sendable, Hashable {
        /// How a frame ends.
        public enum Checksum: String, Sendable, Hashable, Codable, CaseIterable {
            /// The byte that makes the sum of all bytes 0 modulo 256.
            case complement
            /// The sum of the bytes before it, modulo 256.
            case sum
            /// No checksum byte.
            case none
        }

        /// How integers are laid out.
        public enum ByteOrder: String, Sendable, Hashable, Codable, CaseIterable {
            case big
            case little
        }

        /// The pause between the frames of a block.
        public enum Gap: Sendable, Hashable {
            /// Always this long.
            case fixed(Duration)
            /// Starts at this length; shortened while blocks arrive whole, lengthened when packets go missing.
            case adaptive(from: Duration)
        }

        /// The first byte of each command.
        public struct Opcodes: Sendable, Hashable {
            /// Asks for the battery level; the proof of identity.
            public var battery: UInt8 = 0x99
            /// The device's answer to `battery`; all other answers repeat the command's opcode.
            public var batteryReply: UInt8 = 0x7B
            /// Sets the clock.
            public var setTime: UInt8 = 0x9A
            /// Announces an image, and asks where to go on.
            public var start: UInt8 = 0xA0
            /// Opens a block.
            public var blockHeader: UInt8 = 0xA1
            /// Carries a piece of a block.
            public var data: UInt8 = 0xA2
            /// Closes a block, and asks for its acknowledgement.
            public var blockEnd: UInt8 = 0xA3
            /// Says that all blocks were sent, and asks for the verdict.
            public var complete: UInt8 = 0xA4
            /// Ends the session.
            public var abort: UInt8 = 0xA5

            /// The built-in band's.
            public init() {}
        }

        /// How long each answer may take.
        public struct Limits: Sendable, Hashable {
            /// For the battery question, each of two tries.
            public var battery: Duration = .seconds(5)
            /// For `setTime`.
            public var setTime: Duration = .seconds(5)
            /// For `start`: a device may erase first.
            public var start: Duration = .seconds(30)
            /// For the acknowledgement of a block.
            public var blockEnd: Duration = .seconds(20)
            /// For the verdict on the image.
            public var complete: Duration = .seconds(30)
            /// For the answer to `abort`.
            public var abort: Duration = .milliseconds(300)
            /// How long a rebooting device is waited for.
            public var reconnect: Duration = .seconds(60)

            /// The built-in band's.
            public init() {}
        }

        /// The first byte of a frame from the host.
        public var hostHeader: UInt8 = 0x1B
        /// The first byte of a frame from the device.
        public var deviceHeader: UInt8 = 0x56
        /// The commands.
        public var opcodes = Opcodes()
        /// How a frame ends.
        public var checksum = Checksum.complement
        /// How integers are laid out.
        public var byteOrder = ByteOrder.big
        /// Bytes of the image in a block, the last one's excepted.
        public var blockSize = 2048
        /// Bytes of a whole frame where the device names no packet limit.
        public var packetSize = 20
        /// The pause between the frames of a block.
        public var gap = Gap.fixed(.milliseconds(20))
        /// How long each answer may take.
        public var limits = Limits()
        /// How often a block is sent at most; 1 ends the update at the first error.
        public var tries = 3
        /// Whether the version bytes FF FF FF make the device skip its version check.
        public var anyVersion = true

        /// The built-in band's.
        public init() {}
    }
}
