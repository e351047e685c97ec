import Testing

@testable import dfu

@Suite struct HelpPageTests {
    private static func pages(under path: [Verb]) -> [[Verb]] {
        [path] + path[path.count - 1].verbs.flatMap { pages(under: path + [$0]) }
    }

    /// Command lines of examples are for copying, so they alone are never broken.
    @Test(arguments: [40, 80, 100])
    func nothingIsWiderThanTheTerminal(_ width: Int) {
        for path in Self.pages(under: [.root]) {
            for line in HelpPage(path: path, width: width).text.split(separator: "\n") where !line.hasPrefix("  $ ") {
                #expect(line.count <= width, "\(line)")
                #expect(line.last != " ", "\(line)")
            }
        }
    }

    @Test func eachVerbSaysWhatItIsForAndHowItIsUsed() {
        for path in Self.pages(under: [.root]) {
            let lines = HelpPage(path: path).text.split(separator: "\n")
            #expect(lines[0].hasPrefix("OVERVIEW: "))
            #expect(lines.contains { $0.hasPrefix("USAGE: \(path.map(\.name).joined(separator: " "))") })
        }
    }
}
