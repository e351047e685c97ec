import TestSupport
import Testing

@Suite struct TranscriptEntryTests {
    @Test func theLinesOfAConversation() throws {
        let entries = try TranscriptEntry.read(
            """
            # a device without an application
            << BOOT       01
            >> CMD  24 beba6ea699c2041f1a12d31608ea53fd..(64)   ; public key
            >> CMD  10    ;
            << CONNECTED  01

            >> CMD  13 f700
            << MTU_RSP    f700
            >> CMD  12 0100   ; CCCD: enable notifications
            << WRITE_RSP  fd01
            >> CMD  22 d8d00100
            >> CP   0601   ; SELECT command
            << NOTIFY     600601
            >> PKT  x17 packets, 4096 bytes
            >> PKT  0102
            << DISCONNECT 13
            """)
        #expect(
            entries.map(\.content) == [
                .comment("a device without an application"), .device(.start(1)), .host(.setPublicKey), .host(.connect),
                .device(.connected), .host(.exchangeMTU(247)), .device(.mtu(247)), .host(.subscribe(1)),
                .device(.writeResponse(0x01FD)), .host(.pass(milliseconds: 119_000)), .host(.write([0x06, 0x01])),
                .device(.notify([0x60, 0x06, 0x01])), .host(.packets(17, bytes: 4096)), .host(.packet([1, 2])),
                .device(.disconnect(0x13)),
            ])
        #expect(entries.map(\.line) == [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
        #expect(entries[2].remark == "public key")
        #expect(entries[3].remark == nil)
    }

    @Test(
        "a line that is none is named", arguments: [">> CP   0", "<< NOTIFY xx", ">> CMD  99", "hello", ">> PKT  x2"])
    func unreadable(line: String) {
        #expect(throws: TranscriptEntry.Unreadable.self) { try TranscriptEntry.read("<< BOOT 01\n" + line) }
    }

    @Test(
        "every recorded conversation can be read",
        arguments: TranscriptFolder.names(["secure_", "nrfutil_", "legacy_", "smp_"]))
    func shared(name: String) throws {
        #expect(try !TranscriptFolder.entries(name).isEmpty)
    }

    @Test(.enabled(if: SharedFolder.path("transcripts") != nil)) func theParts() throws {
        let parts = try TranscriptFolder.secureParts()
        #expect(parts.contains { $0.name == "x/sdblapp/sd_bl" && $0.initPacket.count == 151 })
        #expect(parts.contains { $0.name == "c/raw1" && $0.firmware.count == 1 })
    }
}
