import DFUPackage
import Testing

@Suite struct PackageErrorTests {
    @Test("What a file is called cannot write over the terminal, or make two lines of one")
    func messageIsOneLine() {
        let error = PackageError(
            .malformed, reason: "x", message: "a\nb\r\u{1B}[2Jc\u{7F}\u{85}\u{2028}\u{202E}d\u{0}手é👩‍🚒")
        #expect(error.message == "a�b��[2Jc����d�手é👩‍🚒")
        #expect(PackageWarning(reason: "x", message: "a\tb\u{1B}").message == "a�b�")
    }

    @Test func fileNameWithANewline() {
        #expect(
            FileName("a\nb_E47B595A.bin", crc32: 1).problem?.message.hasPrefix(
                "a�b_E47B595A.bin: the name states the CRC-32 E47B595A, the content has 00000001") == true)
    }
}
