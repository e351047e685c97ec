import Testing

@testable import dfu

@Suite struct RunSummaryTests {
    private func entry(
        _ device: String, _ status: dfu.ExitStatus, reason: String? = nil, state: String = "asBefore"
    ) -> RunSummary.Entry {
        var result = JSONLine.Result(status: status, reason: reason, message: "")
        result.deviceState = state
        return RunSummary.Entry(device: JSONLine.Device(device: device, id: device), result: result)
    }

    @Test("BAT-09 which were not updated, and why, is told last")
    func lines() {
        let summary = RunSummary(entries: [
            entry("C0:11:22:33:44:50", .ok, state: "updated"),
            entry("My band's", .notFound, reason: "notFound"),
            entry("C0:11:22:33:44:51", .refused, reason: "imageRejected"),
            entry("44:52", .link, reason: "linkLost", state: "bootloader"),
            entry("44:53", .unverified, reason: "unverified", state: "unknown"),
        ])
        #expect(summary.status == .partial)
        #expect(
            summary.lines == [
                #"for the failed ones alone: --device 'My band'\''s' --device C0:11:22:33:44:51 --device 44:52 --device 44:53"#,
                "not updated:",
                "  My band's          notFound",
                "  C0:11:22:33:44:51  refused: imageRejected",
                "  44:52              link: linkLost, left in its bootloader",
                "  44:53              unverified, old or new firmware",
                "1 of 5 devices updated",
            ])
    }

    @Test func allOrNothing() {
        let all = RunSummary(entries: [entry("a", .ok), entry("b", .ok)])
        #expect(all.status == .ok)
        #expect(all.lines == ["2 of 2 devices updated"])
        let none = RunSummary(entries: [entry("a", .link, reason: "noAnswer"), entry("b", .link, reason: "noAnswer")])
        #expect(none.status == .partial)
        #expect(none.lines == ["not updated:", "  a  link: noAnswer", "  b  link: noAnswer", "0 of 2 devices updated"])
    }

    @Test func oneDeviceHasItsOwnStatus() {
        #expect(RunSummary(entries: [entry("a", .refused)]).status == .refused)
        #expect(RunSummary(entries: [entry("a", .ok)]).status == .ok)
    }

    @Test("A signal is the end of a run that it has cut short, and of no other")
    func interruption() {
        let stopped = entry("b", .terminate, reason: "aborted")
        #expect(RunSummary(entries: [entry("a", .ok), stopped], interruption: .terminate).status == .terminate)
        #expect(RunSummary(entries: [entry("a", .ok), entry("b", .ok)], interruption: .terminate).status == .ok)
    }
}
