import TestSupport
import Testing

/// Every line of the transcripts, run by the built program.
@Suite(.blocking) struct TranscriptTests {
    @Test("Help prints as it is written")
    func help() throws {
        for entry in try play("help.txt") {
            #expect(entry.outcome.last == "[0]", "\(entry)")
            #expect(entry.outcome.dropLast().allSatisfy { $0.hasPrefix("1>") }, "\(entry)")
        }
    }

    @Test("CLI-01, CLI-08 a wrong command line is one line on stderr and 64", arguments: ["usage-errors.txt"])
    func usageErrors(_ file: String) throws {
        for entry in try play(file) {
            #expect(entry.outcome.count == 2, "\(entry)")
            #expect(entry.outcome.first?.hasPrefix("2> dfu: ") == true, "\(entry)")
            #expect(entry.outcome.last == "[64]", "\(entry)")
        }
    }

    @Test("CLI-01 a sound package is 0, and says nothing on stderr")
    func info() throws {
        for entry in try play("info.txt", in: ProjectFile.path("Fixtures/packages")) {
            #expect(entry.outcome.last == "[0]", "\(entry)")
            #expect(entry.outcome.dropLast().allSatisfy { $0.hasPrefix("1>") }, "\(entry)")
        }
    }

    @Test(
        """
        PKG-03, PKG-04, PKG-08, PKG-14, PKG-16, PKG-19, PKG-21, PKG-22 of an unsound package all that could be read is \
        shown, and one line on stderr says what is wrong
        """)
    func infoOfUnsoundPackages() throws {
        let folder = try UnsoundPackages.folder()
        for entry in try play("info-unsound.txt", in: folder.path) {
            let isUnreadable = ["nosuch.zip", "."].contains(entry.arguments.last)
            #expect(entry.outcome.last == (isUnreadable ? "[66]" : "[65]"), "\(entry)")
            let errors = entry.outcome.filter { $0.hasPrefix("2>") }
            #expect(errors.count == 1 && errors[0].hasPrefix("2> dfu: "), "\(entry)")
        }
    }

    @Test("A profile is shown whole, and all its faults are told")
    func profile() throws {
        let folder = try TemporaryFolder()
        let profiles = [
            "right.json": #"{"name": "ring", "service": "fee7", "tries": 5}"#,
            "wrong.json": #"{"name": "ring", "tries": 77, "blocksize": 4096, "gap": "slow"}"#,
            "clash.json": #"{"name": "ring", "blockSize": 65535, "opcodes": {"start": "0xA4"}}"#,
            "broken.json": "{",
        ]
        for (name, text) in profiles { _ = try folder.write(Array(text.utf8), to: name) }
        for entry in try play("profile.txt", in: folder.path) {
            let status = entry.line.contains("nosuch") ? "[66]" : entry.line.contains("right") ? "[0]" : "[78]"
            #expect(entry.outcome.last == (entry.line == "dfu profile show" ? "[0]" : status), "\(entry)")
            #expect(entry.outcome.filter { $0.hasPrefix("2>") }.count == (entry.outcome.last == "[0]" ? 0 : 1))
        }
    }

    /// Runs each line of a transcript in `folder`, compares, and gives what was played.
    private func play(_ file: String, in folder: String? = nil) throws -> [Transcript.Entry] {
        var transcript = Transcript(try #require(Golden.text(file)))
        let written = transcript.entries
        try #require(!written.isEmpty)
        transcript.entries = written.map { $0.played(in: folder) }
        if Golden.isRecording {
            Golden.expect(transcript.text, in: file)
        } else {
            for (expected, played) in zip(written, transcript.entries) {
                #expect(played.description == expected.description)
            }
        }
        return transcript.entries
    }
}
