extension SecureDFU {
    /// What a host decides about a transfer.
    public struct Parameters: Sendable, Hashable {
        /// After how many packets the device tells what it has received.
        public enum Receipts: Sendable, Hashable {
            /// Starts with few and takes more while objects arrive whole, at most `limit`; fewer when packets go missing.
            case adaptive(limit: Int)
            /// After so many, and no more packets than these are on their way; fewer only after packets went missing.
            case every(Int)
            /// Never: an object's checksum is asked for at its end, and in between only after packets went missing.
            case none
        }

        /// How long the device may take.
        public struct Limits: Sendable, Hashable {
            /// For the answer to a request.
            public var answer: Duration = .seconds(10)
            /// For the answer to `execute`: a signature may have to be verified first.
            public var execute: Duration = .seconds(20)
            /// For the answer to the last `execute`: the hash of the whole image is computed first.
            public var lastExecute: Duration = .seconds(60)
            /// For a receipt that is due; then the checksum is asked for.
            public var receipt: Duration = .seconds(3)
            /// For the end of the link after the user's stop.
            public var abort: Duration = .milliseconds(300)
            /// For the end of the link when a device that is stuck is told to restart, or may have taken the last `execute`.
            public var restart: Duration = .seconds(5)

            /// The usual ones.
            public init() {}
        }

        /// After how many packets the device tells what it has received; 1 to 65535.
        public var receipts = Receipts.adaptive(limit: 256)
        /// How often an object, or a request that is not answered, is sent at most; 1 ends the transfer at the first trouble.
        public var tries = 3
        /// The pause between `create` and an object's first packet: some devices erase then, and hear nothing. After
        /// packets went missing it is longer by itself.
        public var preparationDelay = Duration.zero
        /// How long the device may take.
        public var limits = Limits()

        /// The usual ones.
        public init() {}

        /// What is wrong with these parameters; nil when they can be used.
        public var problem: String? {
            switch receipts {
            case .adaptive(let packets), .every(let packets):
                guard (1...Int(UInt16.max)).contains(packets) else {
                    return "the receipts are asked for after \(packets) packets; it must be 1 to \(UInt16.max)"
                }
            case .none: break
            }
            guard (1...100).contains(tries) else { return "the tries are \(tries); they must be 1 to 100" }
            guard (.zero...Duration.seconds(10)).contains(preparationDelay) else {
                return "the preparation delay is \(preparationDelay); it must be 0 to 10 seconds"
            }
            return nil
        }
    }
}
