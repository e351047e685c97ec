import DFUProtocol
import DFUSimulator
import DFUTransport

/// Images and bands for the tests of block-ack.
enum Sample {
    /// Bytes without a pattern that a swap or a shift would leave alone.
    static func bytes(_ count: Int) -> [UInt8] {
        var state: UInt32 = 0x2545_F491
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    static func image(_ count: Int) -> BlockAck.Image {
        BlockAck.Image(bytes: bytes(count), version: BlockAck.Version(1, 4, 2))
    }

    /// A band whose blocks are so small that every frame of an update can be tried.
    static func smallBlocks(_ change: (inout Band.Settings) -> Void = { _ in }) -> Band.Settings {
        var settings = Band.Settings()
        settings.profile.blockAck.blockSize = 64
        change(&settings)
        return settings
    }

    /// Three blocks of `smallBlocks`, the last one shorter.
    static let threeSmallBlocks = image(64 + 64 + 40)
    /// What is written for it when nothing goes wrong: `start`, 6 and 6 and 5 frames of blocks, `complete`.
    static let framesOfThreeSmallBlocks = 19
    /// What answers it: to `start`, to each block, to `complete`.
    static let repliesToThreeSmallBlocks = 5
}
