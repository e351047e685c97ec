import Glibc
import TestSupport
import Testing

/// Texts that the command must go on writing, kept in a folder of `Fixtures`.
///
/// With `DFU_RECORD` in the environment the tests write them anew; what changed is then for `git diff` to show.
enum Golden {
    static let isRecording = getenv("DFU_RECORD") != nil

    /// The text of a file.
    static func text(_ name: String, in folder: String = "cli") -> String? {
        guard let file = fopen(ProjectFile.path("Fixtures/\(folder)/\(name)"), "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var byte = fgetc(file)
        while byte != EOF {
            bytes.append(UInt8(byte))
            byte = fgetc(file)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Compares a text with the file's, or writes it there.
    static func expect(
        _ text: String, in name: String, of folder: String = "cli", location: SourceLocation = #_sourceLocation
    ) {
        if isRecording {
            let file = fopen(ProjectFile.path("Fixtures/\(folder)/\(name)"), "w")
            #expect(file != nil && fputs(text, file) >= 0 && fclose(file) == 0, sourceLocation: location)
        } else {
            #expect(text == self.text(name, in: folder), "Fixtures/\(folder)/\(name)", sourceLocation: location)
        }
    }
}
