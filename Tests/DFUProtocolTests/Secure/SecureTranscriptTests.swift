import DFUProtocol
import Glibc
import TestSupport
import Testing

/// Our host, told what real device code said to other hosts: it writes what they wrote.
@Suite(.enabled(if: SharedFolder.path("transcripts") != nil)) struct SecureTranscriptTests {
    private static let names = TranscriptFolder.names(["secure_", "nrfutil_"])

    /// Conversations whose host did on purpose what no host should, and so cannot be followed to the end.
    private static let odd = [
        "secure_cp_lengths": "the recorded host tries requests of wrong lengths",
        "secure_crc_mismatch_executed": "the recorded host executes an object that it knows to be damaged",
        "secure_create_command_too_large_keeps_state": "the recorded host tries an init packet that is too long",
        "secure_create_drops_init": "the recorded host creates the init packet anew in the middle",
        "secure_create_sizes": "the recorded host tries objects of wrong sizes",
        "secure_execute_without_anything": "the recorded host executes before anything was sent",
        "secure_failed_update_keeps_old_app": "the recorded host sends a damaged object, and executes it",
        "secure_full_protocol_ops": "the recorded host tries requests of other transports",
        "secure_linkloss_current_object": "the recorded host does not ask what there is after the link was lost",
        "secure_lost_packet": "the recorded host leaves a packet out, and executes the object",
        "secure_mtu_negotiation": "the recorded host writes nothing",
        "secure_new_command_then_linkloss": "the recorded host creates the init packet anew in the middle",
        "secure_no_cccd": "the recorded host writes without a subscription",
        "secure_overlong_object": "the recorded host sends more than the object holds",
        "secure_partly_fitting_packet": "the recorded host sends more than the object holds",
        "secure_prn_behaviour": "the recorded host counts receipts in objects that it does not finish",
        "secure_prn_with_write_error": "the recorded host sends packets before there is an object",
        "secure_sdk15_create_instead_of_resume": "the recorded host creates an object that it could go on with",
        "secure_select_after_partial": "the recorded host stops in the middle, and goes on over the same link",
        "secure_slow_flash_overrun": "the recorded host executes an object that it knows to be incomplete",
        "secure_slow_flash_small_packets": "the recorded host goes on sending after receipts that tell of lost packets",
        "secure_unaligned_packets": "the recorded host sends packets that are not of whole words",
    ]

    private static func report(_ name: String, _ parts: [TranscriptFolder.Part]) throws -> SecureTranscriptPlayer.Report
    {
        var player = SecureTranscriptPlayer(parts: parts)
        player.play(try TranscriptFolder.entries(name))
        return player.report
    }

    @Test("it agrees with every host that did not err on purpose") func agreement() throws {
        let parts = try TranscriptFolder.secureParts()
        var table = """
            # Recorded conversations with Secure DFU bootloaders

            Each is a conversation of some host with the bootloader of nRF5 SDK 15.3 or 17.1, or with the application that
            enters it: real device code, and for `nrfutil_…` Nordic's own tool as the host. A test plays the device's side to
            our host, and compares each write with the recorded host's: requests byte by byte, packets by their length and
            place. *Same* counts these writes. What only our host asks is answered as the recording implies.

            With `DFU_RECORD=1` the test writes this file; else it fails where the file would be another.

            Where both mean the same, our host


            """
        for (letter, note) in SecureTranscriptPlayer.Note.lettered { table += "- **\(letter)** \(note.rawValue),\n" }
        table.removeLast(2)
        table += """
            .

            | conversation | links | same | our host's end of each | agrees | remarks |
            | --- | --: | --: | --- | --- | --- |

            """
        for name in Self.names {
            let report = try Self.report(name, parts)
            let reason = Self.odd[name]
            #expect(
                (report.difference != nil || report.links == 0) == (reason != nil),
                "\(name): \(report.difference ?? "agrees, though it is said not to")")
            let notes = SecureTranscriptPlayer.Note.lettered.filter { report.notes.contains($0.1) }.map(\.0)
            let ends = report.ends.map { $0.isEmpty ? "not reached" : $0 }.joined(separator: ", ")
            let remarks = reason.map { [$0] + [report.difference].compactMap(\.self) }?.joined(separator: "; ")
            table += "| `\(name)` | \(report.links) | \(report.writes) | \(ends) | \(reason == nil ? "yes" : "no") | "
            table += "\(remarks ?? notes.joined(separator: " ")) |\n"
        }
        let agreeing = Self.names.count { Self.odd[$0] == nil }
        table +=
            "\n\(agreeing) of \(Self.names.count) agree; in the others the recorded host did on purpose what no host should.\n"
        let path = ProjectFile.path("docs/secure-dfu-transcripts.md")
        if getenv("DFU_RECORD") != nil {
            let file = try #require(fopen(path, "w"))
            #expect(fputs(table, file) >= 0 && fclose(file) == 0)
        } else {
            #expect(table == String(decoding: try ProjectFile.bytes(at: path), as: UTF8.self))
        }
    }

    @Test("a happy one ends well", arguments: names.filter { $0.contains("happy") || $0.contains("_ok_") })
    func happy(name: String) throws {
        let report = try Self.report(name, TranscriptFolder.secureParts())
        #expect(report.ends == ["installed"])
        #expect(report.difference == nil)
    }
}
