import DFUProtocol
import Testing

@Suite struct SecureEntryTests {
    private typealias Outcome = SecureDFU.Entry.Outcome

    /// Tells an entry what happens, one thing a step, and gives back what it wrote and its end.
    private func play(
        _ name: String?, _ events: Event...
    ) -> (writes: [[UInt8]], result: Result<Outcome, ProcedureError>?, pauses: [Duration]) {
        var entry = SecureDFU.Entry(settingName: name)
        var writes: [[UInt8]] = []
        var pauses: [Duration] = []
        var isWriting = false
        var timers: Set<Int> = []
        var rest = events[...]
        while true {
            let step = entry.next()
            #expect(entry.next() == step, "next() is idempotent")
            #expect(entry.phase == .enterBootloader)
            switch step {
            case .write(let bytes, let endpoint):
                #expect(endpoint == .buttonless)
                if !isWriting { writes.append(bytes) }
                isWriting = true
            case .wait(let timer):
                if timers.insert(timer.id).inserted { pauses.append(timer.duration) }
            case .finish(let result):
                #expect(rest.isEmpty)
                for event in [Event.disconnected, .timeout, .abort, .written] { entry.receive(event) }
                #expect(entry.next() == step, "nothing changes an end")
                return (writes, result, pauses)
            }
            guard let event = rest.popFirst() else { return (writes, nil, pauses) }
            switch event {
            case .written, .writeFailed, .disconnected: isWriting = false
            case .notification, .timeout, .abort: break
            }
            entry.receive(event)
        }
    }

    private func indication(_ bytes: UInt8...) -> Event { .notification(bytes, from: .buttonless) }

    @Test func theOrderAndTheEndOfTheLink() {
        let end = play(nil, .written, indication(0x20, 1, 1), .disconnected)
        #expect(end.writes == [[1]])
        #expect(end.result == .success(.entering(name: nil)))
    }

    @Test func theNameComesFirst() {
        let end = play(
            "Dfu01234", .written, indication(0x20, 2, 1), .written, indication(0x20, 1, 1), .disconnected)
        #expect(end.writes == [[2, 8, 0x44, 0x66, 0x75, 0x30, 0x31, 0x32, 0x33, 0x34], [1]])
        #expect(end.result == .success(.entering(name: "Dfu01234")))
    }

    @Test("SEC-26 a, b: a refused name is done without", arguments: [2, 4, 5, 7, 0x2A] as [UInt8])
    func refusedName(code: UInt8) {
        let end = play("Dfu12345", .written, indication(0x20, 2, code), .written, indication(0x20, 1, 1), .disconnected)
        #expect(end.writes.count == 2)
        #expect(end.result == .success(.entering(name: nil)))
    }

    @Test func aNameThatIsNotAnsweredIsDoneWithout() {
        let end = play("Dfu12345", .written, .timeout, .written, indication(0x20, 1, 1), .disconnected)
        #expect(end.result == .success(.entering(name: nil)))
    }

    @Test func aNameThatCannotBeWrittenIsDoneWithout() {
        let failure = WriteFailure(attCode: 0x0D, message: "invalid length")
        let end = play("Dfu12345", .writeFailed(failure), .written, indication(0x20, 1, 1), .disconnected)
        #expect(end.result == .success(.entering(name: nil)))
    }

    @Test("SEC-26 c: a link lost at the name", arguments: [true, false])
    func linkLostAtTheName(isWritten: Bool) {
        let end = isWritten ? play("Dfu12345", .written, .disconnected) : play("Dfu12345", .disconnected)
        #expect(end.writes.count == 1)
        #expect(end.result == .success(.nameUnwelcome))
    }

    @Test("SEC-22 the device resets before its answer")
    func resetBeforeTheAnswer() {
        #expect(play(nil, .written, .disconnected).result == .success(.entering(name: nil)))
        #expect(play(nil, .disconnected).result == .success(.entering(name: nil)))
        let failure = WriteFailure(attCode: 0x0E, message: "unlikely error")
        #expect(play(nil, .writeFailed(failure), .disconnected).result == .success(.entering(name: nil)))
    }

    @Test func aWriteThatFailsAndALinkThatStays() {
        let failure = WriteFailure(attCode: 0x0E, message: "unlikely error")
        let error = play(nil, .writeFailed(failure), .timeout).result?.failure
        #expect(error?.reason == "writeFailed")
        #expect(error?.deviceCode == 0x0E)
    }

    @Test("a device that wants a bond", arguments: [0x05, 0x0F] as [UInt8])
    func encryptionWanted(code: UInt8) {
        let failure = WriteFailure(attCode: code, message: "insufficient encryption")
        #expect(play(nil, .writeFailed(failure), .timeout).result?.failure?.reason == "notBonded")
        #expect(play(nil, .written, indication(0x20, 1, 7)).result?.failure?.reason == "notBonded")
    }

    @Test func aBusyDeviceIsAskedAgainAFewTimes() {
        let busy = indication(0x20, 1, 6)
        let once = play(nil, .written, busy, .timeout, .written, indication(0x20, 1, 1), .disconnected)
        #expect(once.writes == [[1], [1]])
        #expect(once.result == .success(.entering(name: nil)))
        let always = play(
            nil, .written, busy, .timeout, .written, busy, .timeout, .written, busy, .timeout, .written, busy, .timeout,
            .written, busy)
        #expect(always.writes.count == 5)
        #expect(always.result?.failure?.reason == "busy")
    }

    @Test("a refusal has its name", arguments: [2, 4, 0x2A] as [UInt8])
    func refusal(code: UInt8) {
        let error = play(nil, .written, indication(0x20, 1, code)).result?.failure
        #expect(error?.code == .refused)
        #expect(error?.reason == "bootloaderRefused")
        #expect(error?.deviceCode == Int(code))
        #expect(error?.message.contains("0x\(code.hexadecimal)") == true)
    }

    @Test func noAnswerAndNoEndOfTheLink() {
        #expect(play(nil, .written, .timeout).result?.failure?.reason == "noAnswer")
        #expect(play(nil, .written, indication(0x20, 1, 1), .timeout).result == .success(.entering(name: nil)))
    }

    @Test("strange answers are not taken for any", arguments: [[], [0x20], [0x60, 1, 1], [0x20, 2, 1]] as [[UInt8]])
    func strangeAnswers(bytes: [UInt8]) {
        let end = play(nil, .written, .notification(bytes, from: .buttonless), .timeout)
        #expect(end.result?.failure?.reason == "noAnswer")
    }

    @Test func anAnswerBeforeTheWordThatItWasWritten() {
        let end = play(nil, indication(0x20, 1, 1), .written, .disconnected)
        #expect(end.result == .success(.entering(name: nil)))
        #expect(play(nil, indication(0x20, 1, 7), .disconnected).result?.failure?.reason == "notBonded")
    }

    @Test func stopping() {
        #expect(play("Dfu12345", .abort, .written).result?.failure?.code == .aborted)
        #expect(play(nil, .written, .abort).result?.failure?.message.contains("goes into its bootloader") == true)
        #expect(
            play(nil, .written, indication(0x20, 1, 6), .abort).result?.failure?.message.contains("was not sent")
                == true)
    }
}
