import Testing

@testable import dfu

@Suite struct SpellingTests {
    @Test(arguments: [
        ("", "", 0), ("flash", "flash", 0), ("flahs", "flash", 1), ("flsh", "flash", 1), ("flaash", "flash", 1),
        ("FLASH", "flash", 0), ("", "info", 4), ("info", "", 4), ("kitten", "sitting", 3),
    ])
    func distance(_ first: String, _ second: String, _ expected: Int) {
        #expect(Spelling.distance(first, second) == expected)
        #expect(Spelling.distance(second, first) == expected)
    }

    @Test func nearestIsTheOneWithTheFewestSlips() {
        #expect(Spelling.nearest(to: "--devcie", among: ["--profile", "--device", "--json"]) == "--device")
        #expect(Spelling.nearest(to: "--crb", among: ["--crc", "--mtu"]) == "--crc")
    }

    @Test func whatIsTooFarIsNoGuess() {
        #expect(Spelling.nearest(to: "--xyzzy", among: ["--mtu", "--json"]) == nil)
        #expect(Spelling.nearest(to: "-q", among: ["-v"]) == nil)
        #expect(Spelling.nearest(to: "flash", among: []) == nil)
    }
}
