import Testing

@testable import dfu

@Suite struct ExitStatusTests {
    @Test func theContractsTable() {
        let table: [(Int32, String)] = [
            (0, "ok"), (64, "usage"), (65, "package"), (66, "input"), (68, "notFound"), (69, "environment"),
            (70, "internal"), (73, "output"), (75, "link"), (76, "refused"), (77, "permission"), (78, "config"),
            (79, "unverified"), (80, "partial"), (129, "interrupted"), (130, "interrupted"), (143, "interrupted"),
        ]
        #expect(ExitStatus.allCases.map(\.rawValue) == table.map(\.0))
        #expect(ExitStatus.allCases.map(\.name) == table.map(\.1))
    }
}
