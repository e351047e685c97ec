import DFUKit
import DFUProtocol
import Testing

@testable import dfu

@Suite struct ProgressStoryTests {
    private func snapshot(_ phase: Phase, _ bytes: Int = 0) -> UpdateProgress {
        UpdateProgress(phase: phase, bytes: bytes, total: 1000)
    }

    @Test("CLI-05 bytes never fall, and only what is new is told")
    func neverFalls() {
        var story = ProgressStory()
        #expect(story.note(snapshot(.connect), at: .zero) == .phase)
        #expect(story.note(snapshot(.connect), at: .zero) == [])
        #expect(story.note(snapshot(.transfer, 200), at: .zero) == [.phase, .bytes])
        #expect(story.note(snapshot(.transfer, 100), at: .zero) == [])
        #expect(story.bytes == 200)
        #expect(story.note(snapshot(.reconnect, 0), at: .zero) == .phase)
        #expect(story.bytes == 200)
    }

    @Test func rateAndTimeLeftAreOfTheTransferAlone() {
        var story = ProgressStory()
        _ = story.note(snapshot(.prepare, 0), at: .seconds(0))
        _ = story.note(snapshot(.transfer, 500), at: .seconds(10))
        #expect(story.bytesPerSecond(at: .seconds(10)) == nil)
        _ = story.note(snapshot(.transfer, 600), at: .seconds(12))
        #expect(story.bytesPerSecond(at: .seconds(12)) == 50)
        #expect(story.secondsLeft(at: .seconds(12)) == 8)
        _ = story.note(snapshot(.verify, 600), at: .seconds(13))
        #expect(story.bytesPerSecond(at: .seconds(13)) == nil)
        #expect(story.secondsLeft(at: .seconds(13)) == nil)
    }

    @Test("SEC-30 bytes are of all parts, and do not fall with a new one")
    func aNewPartGoesOn() {
        var story = ProgressStory()
        _ = story.note(UpdateProgress(phase: .transfer, bytes: 900, total: 1000, part: 1, parts: 2), at: .zero)
        let change = story.note(UpdateProgress(phase: .transfer, bytes: 900, total: 1000, part: 2, parts: 2), at: .zero)
        #expect(change == .phase)
        #expect(story.bytes == 900)
        #expect(story.phaseName == "transfer 2/2")
    }
}
