public import DFUProtocol

extension Band {
    /// What a band keeps without power.
    public struct Memory: Sendable, Hashable, Codable {
        /// The running version.
        public private(set) var version: BlockAck.Version
        /// The image that was installed last; empty where it is still the factory's.
        @Base64 public private(set) var image: [UInt8] = []
        /// The image that is being received.
        public internal(set) var reception: BandReception?
        /// The image that the next reboot runs.
        public internal(set) var accepted: BandReception?

        /// A band fresh from the factory.
        public init(version: BlockAck.Version) {
            self.version = version
        }

        /// Installs an image. The bytes FF FF FF are no version: kept as one, they would refuse every later update.
        mutating func run(_ accepted: BandReception) {
            image = accepted.bytes
            if accepted.version != .any { version = accepted.version }
        }
    }
}
