import Testing

@testable import dfu

@Suite struct PrintableTextTests {
    @Test(arguments: ["", "sim:band", "Herz & Würfel", "手环", "⌚️ 👩‍👩‍👧", "می‌خواهم"])
    func ordinaryTextStays(_ text: String) {
        #expect(text.printable == text)
    }

    @Test(arguments: [
        ("\u{1B}]0;x\u{7}", "\\u{1b}]0;x\\u{7}"), ("a\nb", "a\\u{a}b"), ("\u{9B}2J", "\\u{9b}2J"),
        ("\u{7F}", "\\u{7f}"),
        ("\u{202E}gnp.bin", "\\u{202e}gnp.bin"), ("a\u{2028}b", "a\\u{2028}b"), ("\u{FEFF}x", "\\u{feff}x"),
        ("\r\n", "\\u{d}\\u{a}"), ("\u{0}", "\\u{0}"),
    ])
    func treacherousTextIsEscaped(_ text: String, _ expected: String) {
        #expect(text.printable == expected)
    }
}
