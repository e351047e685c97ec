import Testing

@testable import dfu

@Suite struct VerbTests {
    private func request(_ words: String...) throws(Failure) -> String {
        switch try Verb.root.request(words, defaults: { [] }) {
        case .help(let path): "help " + path.map(\.name).joined(separator: " ")
        case .version: "version"
        case .run(let command): "\(type(of: command))"
        }
    }

    @Test func helpIsAskedForAnywhereBeforeTheEndOfOptions() throws {
        #expect(try request("--help") == "help dfu")
        #expect(try request("flash", "-h") == "help dfu flash")
        #expect(try request("flash", "--nonsense", "--help", "--json") == "help dfu flash")
        #expect(try request("profile", "show", "--help") == "help dfu profile show")
        #expect(try request("scan", "--help") == "help dfu scan")
        #expect(try request("info", "--", "--help") == "Info")
    }

    @Test func verbsAreRead() throws {
        #expect(try request("--version") == "version")
        #expect(try request("info", "x.zip") == "Info")
        #expect(try request("profile", "show") == "ProfileShow")
        #expect(try request("flash", "x.zip", "--device", "sim:band") == "Flash")
    }

    @Test func configurationIsReadOnlyForVerbsThatRun() {
        let broken = Failure(.config, subject: "config.json", "broken")
        for words in [["--help"], ["--version"], ["flash", "--help"]] {
            #expect(throws: Never.self) { try Verb.root.request(words) { () throws(Failure) in throw broken } }
        }
        #expect(throws: broken) { try Verb.root.request(["info", "x.zip"]) { () throws(Failure) in throw broken } }
    }

    /// The verbs of the contract: none is forgotten in the table.
    @Test func everyVerbOfTheContractIsThere() {
        let names = [
            "flash", "scan", "inspect", "read", "write", "notify", "pair", "forget", "info", "check", "verify", "pack",
            "sign", "keygen", "key", "split", "merge", "diff", "convert", "settings", "catalog", "image", "reset",
            "echo",
            "batch", "station", "journal", "report", "profile", "simulate", "replay", "doctor", "help", "completions",
        ]
        #expect(Set(Verb.root.verbs.map(\.name)) == Set(names))
        #expect(Verb.root.verbs.count == names.count)
    }
}
