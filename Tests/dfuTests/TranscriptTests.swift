import Testing

/// Every line of the transcripts, run by the built program.
@Suite struct TranscriptTests {
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

    /// Runs each line of a transcript, compares, and gives what was played.
    private func play(_ file: String) throws -> [Transcript.Entry] {
        var transcript = Transcript(try #require(Golden.text(file)))
        let written = transcript.entries
        try #require(!written.isEmpty)
        transcript.entries = written.map { $0.played() }
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
