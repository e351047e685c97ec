import DFUTransport
import Testing

@testable import DFUProtocol

@Suite struct RecordingTests {
    @Test func tellsEachStepAndEventOnceAndChangesNothing() {
        let told = Locked<[String]>([])
        var bare = BlockAck.BatteryQuery(by: BlockAck.Parameters())
        var recording = Recording(bare) { moment in
            let line =
                switch moment {
                case .log(let line): "log \(line)"
                case .step(.write(let bytes, _)): "write \(bytes.hexadecimal)"
                case .step(.wait): "wait"
                case .step(.finish(let result)): "finish \(result)"
                case .event(.notification(let bytes, _)): "notification \(bytes.hexadecimal)"
                case .event(let event): "\(event)"
                }
            told.withLock { $0.append(line) }
        }
        for event in [
            .written, .notification([0x56, 0x7B], from: .reply), .notification([0x56, 0x7B, 0x08, 0x27], from: .reply),
        ]
            as [Event]
        {
            #expect(recording.next() == bare.next())
            #expect(recording.next() == bare.next())
            recording.receive(event)
            bare.receive(event)
            #expect(recording.phase == bare.phase && recording.progress == bare.progress)
        }
        #expect(recording.next() == bare.next())
        #expect(recording.takeLog() == bare.takeLog())
        #expect(recording.takeLog().isEmpty)
        #expect(
            told.withLock(\.self) == [
                "write 1B 99 01 4B", "written", "wait", "notification 56 7B",
                "log dropped 56 7B: too short for a frame",
                "wait", "notification 56 7B 08 27", "finish success(80 %)",
            ])
    }
}
