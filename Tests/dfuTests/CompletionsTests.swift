import Glibc
import TestSupport
import Testing

@testable import dfu

@Suite(.blocking) struct CompletionsTests {
    @Test(arguments: Shell.allCases)
    func golden(_ shell: Shell) {
        Golden.expect(shell.completions(for: .root), in: "completions.\(shell)")
    }

    /// The verbs that this version has.
    private static let verbs =
        "check completions doctor flash forget help info inspect notify pair profile read replay scan simulate write"

    private static func has(_ shell: Shell) -> Bool { access("/usr/bin/\(shell)", X_OK) == 0 }

    /// What bash offers at the end of each line.
    @Test(
        .enabled(if: has(.bash)),
        arguments: [
            ("dfu ", verbs),
            ("dfu fl", "flash"),
            ("dfu -", "--help --version -h"),
            ("dfu keygen ", verbs),
            ("dfu profile ", "check show"),
            ("dfu profile s", "show"),
            ("dfu completions ", "bash fish zsh"),
            ("dfu completions z", "zsh"),
            ("dfu flash --pro", "--profile --progress --protocol"),
            ("dfu flash x.bin --dev", "--device"),
            ("dfu flash --device ", "sim:band sim:secure"),
            ("dfu flash --device s", "sim:band sim:secure"),
            ("dfu flash --device sim:b", "band"),
            ("dfu flash --device=sim:b", "band"),
            ("dfu flash --protocol ", "auto block-ack secure"),
            ("dfu flash --protocol=b", "block-ack"),
            ("dfu flash --skip-check b", "battery"),
            ("dfu flash --verify --n", "--no-crc --no-verify"),
            ("dfu flash --mtu ", ""),
            ("dfu flash --prn", "--prn"),
            ("dfu info --j", "--json"),
            ("dfu info --device", ""),
            ("dfu read s", "sim:band sim:secure"),
            ("dfu scan --w", "--watch"),
        ])
    func bash(_ line: String, _ expected: String) throws {
        let script = """
            source \(ProjectFile.path("Fixtures/cli/completions.bash"))
            compopt() { :; }
            COMP_LINE=$1 COMP_POINT=${#1}
            _dfu
            printf '%s\\n' "${COMPREPLY[@]}" | sort | xargs
            """
        let outcome = BuiltProgram(arguments: ["-c", script, "bash", line], executable: "/usr/bin/bash").run()
        #expect(outcome == BuiltProgram.Outcome(output: expected + "\n", errors: "", status: 0))
    }

    @Test(
        .enabled(if: has(.fish)),
        arguments: [
            ("dfu ", verbs),
            ("dfu profile ", "check show"),
            ("dfu completions z", "zsh"),
            ("dfu flash --pro", "--profile --progress --protocol"),
            ("dfu flash --device ", "sim:band sim:secure"),
            ("dfu flash --protocol=b", "--protocol=block-ack"),
            ("dfu flash --prn", "--prn"),
            ("dfu info --j", "--json"),
        ])
    func fish(_ line: String, _ expected: String) throws {
        let script = """
            source \(ProjectFile.path("Fixtures/cli/completions.fish"))
            complete -C '\(line)' | string replace -r '\\t.*' '' | sort | string join ' '
            """
        var program = BuiltProgram(arguments: ["--no-config", "-c", script], executable: "/usr/bin/fish")
        program.environment.append("TERM=dumb")
        let outcome = program.run()
        #expect(outcome.output == (expected.isEmpty ? "" : expected + "\n"))
        #expect(outcome.errors == "")
    }

    @Test(.enabled(if: has(.zsh)))
    func zshTakesTheScript() {
        let path = ProjectFile.path("Fixtures/cli/completions.zsh")
        let outcome = BuiltProgram(arguments: ["-f", "-n", path], executable: "/usr/bin/zsh").run()
        #expect(outcome == BuiltProgram.Outcome(output: "", errors: "", status: 0))
    }
}
