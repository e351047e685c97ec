private import FoundationEssentials
private import Glibc
import TestSupport
import Testing

/// The simulated device against recordings of real bootloaders, where the shared folder has them.
@Suite struct SecureReplayTests {
    static let names = TranscriptFolder.names(["secure_", "nrfutil_"])
    private static let parts = Result { try TranscriptFolder.secureParts() }

    /// Where the simulated device does something else, and why.
    private static let differences = [
        "secure_image_not_multiple_of_4":
            "The device refused an image of 10006 bytes at the end; it took others of 1, 10001 and 10002 bytes. What made "
            + "the difference is not in the recording; the simulated device takes all of them."
    ]

    @Test(arguments: names)
    func itAnswersAsTheRealOne(_ name: String) throws {
        let replay = try Self.replay(name)
        let isDifferent = Self.differences[name] != nil
        #expect((replay.recorded == replay.answered) != isDifferent, "\(replay.firstDifference ?? "no difference")")
    }

    /// With `DFU_RECORD` in the environment the table is written anew, as the golden outputs are.
    @Test(.enabled(if: !names.isEmpty))
    func theTableIsInTheDocument() throws {
        let path = ProjectFile.path("docs/secure-dfu-device.md")
        let text = try ProjectFile.contents("docs/secure-dfu-device.md")
        let start = try #require(text.firstRange(of: Self.head), "the head of the table")
        let expected = text[..<start.lowerBound] + Self.head + (try Self.names.map(Self.row).joined())
        if getenv("DFU_RECORD") != nil { try Data(expected.utf8).write(to: URL(filePath: path)) }
        #expect(text == expected || getenv("DFU_RECORD") != nil)
    }

    private static let head = "| recording | answers | the same | |\n| --- | --- | --- | --- |\n"

    private static func row(_ name: String) throws -> String {
        let replay = try replay(name)
        let same = zip(replay.recorded, replay.answered).prefix { $0 == $1 }.count
        return "| `\(name)` | \(replay.recorded.count) | \(same) | \(differences[name] ?? "") |\n"
    }

    private static func replay(_ name: String) throws -> SecureReplay {
        var replay = try SecureReplay(name, parts: parts.get())
        try replay.run()
        return replay
    }
}

extension SecureReplay {
    /// Where the simulated device does not do what the recorded one did.
    fileprivate var firstDifference: String? {
        guard recorded != answered else { return nil }
        let place = zip(recorded, answered).prefix { $0 == $1 }.count
        func described(_ actions: [TranscriptEntry.DeviceAction]) -> String {
            place < actions.count ? "\(actions[place])" : "nothing"
        }
        return "answer \(place + 1): recorded \(described(recorded)), simulated \(described(answered))"
    }
}
