import Testing

@testable import dfu

@Suite struct ConfigurationFileTests {
    private func read(_ text: String) throws(Failure) -> [String] {
        try ConfigurationFile.read(Array(text.utf8), path: "config.json", options: Verb.root.allOptions)
            .map { "\($0.option) \($0.text)" }
    }

    @Test(arguments: [
        ("{}", []),
        (
            #"{"mtu": 50, "gap": "adaptive", "json": true, "timeout": 2.5}"#,
            ["gap adaptive", "json --json", "mtu 50", "timeout 2.5"]
        ),
        (#"{"json": false}"#, []),
        (#"{"verify": true}"#, ["verify --verify"]),
        (#"{"capture": "captures/{}.txt"}"#, ["capture captures/{}.txt"]),
    ])
    func defaults(_ text: String, _ expected: [String]) throws {
        #expect(try read(text) == expected)
    }

    @Test(
        "What nobody should get without asking may not be a default",
        arguments: [
            "allow-downgrade", "device", "forget-bond", "no-crc", "no-verify", "skip-check",
        ])
    func forbidden(_ key: String) {
        let message = "\"\(key)\" may not be a default; give --\(key) where it is meant"
        for value in ["true", "false", "\"battery\"", "[]"] {
            #expect(throws: Failure(.config, subject: "config.json", message)) { try read("{\"\(key)\": \(value)}") }
        }
    }

    @Test(arguments: [
        ("", "not a JSON object of options and their values"),
        ("[]", "not a JSON object of options and their values"),
        ("{\"mtu\": 50,", "not a JSON object of options and their values"),
        (#"{"mtuu": 50}"#, #""mtuu" is no option; did you mean "mtu"?"#),
        (#"{"colour": "red"}"#, #""colour" is no option; take it out"#),
        (#"{"verify": false}"#, #""verify": false may not be a default; give --no-verify"#),
        (#"{"json": "yes"}"#, #""json" needs true or false"#),
        (#"{"smp-mode": "x"}"#, #""smp-mode" is not in this version yet"#),
        (#"{"mtu": true}"#, #""mtu" needs a text or a number"#),
        (#"{"mtu": [50]}"#, #""mtu" needs a text or a number"#),
        (#"{"mtu": null}"#, #""mtu" needs a text or a number"#),
    ])
    func faults(_ text: String, _ message: String) {
        #expect(throws: Failure(.config, subject: "config.json", message)) { try read(text) }
    }
}
