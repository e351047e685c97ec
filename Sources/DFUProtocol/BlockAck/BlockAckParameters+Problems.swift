extension BlockAck.Parameters {
    /// The fewest bytes of a whole frame that a packet must hold.
    static let smallestPacket = 20
    /// The most packets of a block: the sequence number is one byte, and never repeats in a block.
    static let mostPacketsOfBlock = 256
    /// The most blocks of an image: their number is the last value that `start` may answer.
    static let mostBlocks = 65_535

    /// What is wrong with these parameters, one sentence each; empty when they can be used.
    public var problems: [String] {
        var problems: [String] = []
        func require(_ holds: Bool, _ problem: @autoclosure () -> String) {
            if !holds { problems.append(problem()) }
        }
        let blockSizes = 1...Int(UInt16.max)
        let packetSizes = Self.smallestPacket...Int(UInt8.max)
        require(
            blockSizes.contains(blockSize), "the block size is \(blockSize); it must be 1 to \(blockSizes.upperBound)")
        require(
            packetSizes.contains(packetSize),
            "the packet size is \(packetSize); it must be \(Self.smallestPacket) to \(packetSizes.upperBound)")
        if blockSizes.contains(blockSize), packetSizes.contains(packetSize), let problem = sequenceProblem(packetSize) {
            problems.append(problem)
        }
        require((1...100).contains(tries), "the tries are \(tries); they must be 1 to 100")
        require(
            (.zero...Duration.seconds(10)).contains(gap.start), "the gap is \(gap.start); it must be 0 to 10 seconds")
        for (name, limit) in limits.named {
            require(
                limit > .zero && limit <= .seconds(3600), "the limit for \(name) is \(limit); it must be up to an hour")
        }
        problems += opcodes.clashes
        return problems
    }

    /// What is wrong with sending this image by these parameters; nil when it can be sent.
    public func problem(with image: BlockAck.Image) -> String? {
        guard !image.bytes.isEmpty else { return "the image is empty" }
        let blocks = image.blockCount(blockSize: blockSize)
        guard blocks <= Self.mostBlocks else {
            return "an image of \(image.bytes.count) bytes has \(blocks) blocks of \(blockSize) bytes; "
                + "the protocol counts to \(Self.mostBlocks)"
        }
        return nil
    }

    /// What is wrong with sending blocks in packets of this many bytes; nil when it can be done.
    func sequenceProblem(_ packetSize: Int) -> String? {
        let dataLength = packetSize - dataOverhead
        guard blockSize.dividedRoundingUp(by: dataLength) > Self.mostPacketsOfBlock else { return nil }
        return "a block of \(blockSize) bytes takes more than \(Self.mostPacketsOfBlock) packets of \(packetSize) "
            + "bytes; the block size may be at most \(dataLength * Self.mostPacketsOfBlock)"
    }
}

extension BlockAck.Parameters.Gap {
    /// The gap before the first block.
    var start: Duration {
        switch self {
        case .fixed(let gap), .adaptive(from: let gap): gap
        }
    }
}

extension BlockAck.Parameters.Limits {
    fileprivate var named: [(String, Duration)] {
        [
            ("battery", battery), ("setTime", setTime), ("start", start), ("blockEnd", blockEnd),
            ("complete", complete), ("abort", abort), ("reconnect", reconnect),
        ]
    }
}

extension BlockAck.Parameters.Opcodes {
    /// Opcodes that mean two things. The battery's answer may repeat its question's.
    fileprivate var clashes: [String] {
        var users: [UInt8: [String]] = [:]
        for command in BlockAck.Command.allCases {
            users[self[command], default: []].append(command.rawValue)
        }
        if batteryReply != battery {
            users[batteryReply, default: []].append("batteryReply")
        }
        return users.sorted { $0.key < $1.key }.filter { $0.value.count > 1 }.map { opcode, names in
            "the opcode \(opcode.hexadecimal) is used for \(names.joined(separator: " and "))"
        }
    }
}
