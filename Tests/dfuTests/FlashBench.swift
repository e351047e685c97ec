import DFUProtocol
import DFUTransport
import FoundationEssentials
import TestSupport
import Testing

/// What a test of `dfu flash` works with: a firmware, and a folder in which the command keeps all that it keeps.
struct FlashBench {
    let folder: TemporaryFolder
    let image: [UInt8]
    /// The firmware's file, with version 1.1.0 and its CRC-32 in the name.
    let package: String

    init(_ size: Int = 6000) throws {
        folder = try TemporaryFolder()
        image = Firmware.bytes(size)
        package = try folder.write(image, to: "band_v1.1.0_\(CRC32.checksum(image).hexadecimal).bin")
    }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    /// The bytes of a file in the folder.
    func bytes(_ name: String) throws -> [UInt8] { try ProjectFile.bytes(at: path(name)) }

    /// Writes a text into the folder.
    func write(_ text: String, to name: String) throws -> String { try folder.write(Array(text.utf8), to: name) }

    /// `dfu flash`, ready to run.
    func program(_ package: String? = nil, on devices: [String], _ options: [String]) -> BuiltProgram {
        var program = BuiltProgram(arguments: ["flash", package ?? self.package])
        program.arguments += devices.flatMap { ["--device", $0] } + options
        program.environment = BuiltProgram.environment.filter { !$0.hasPrefix("HOME=") }
        program.environment += ["HOME=\(folder.path)", "XDG_STATE_HOME=\(path("state"))"]
        return program
    }

    /// Runs `dfu flash` to its end; the folder's path is left out of what it says.
    func flash(
        sending package: String? = nil, on devices: [String] = ["sim:band?time=virtual"], progress: String = "none",
        _ options: [String] = []
    ) -> BuiltProgram.Outcome {
        let program = program(package, on: devices, ["--progress", progress] + options)
        return withoutFolder(program.run())
    }

    /// The outcome with the folder's files named as in the folder.
    func withoutFolder(_ outcome: BuiltProgram.Outcome) -> BuiltProgram.Outcome {
        var outcome = outcome
        outcome.output = outcome.output.replacing(folder.path + "/", with: "")
        outcome.errors = outcome.errors.replacing(folder.path + "/", with: "")
        return outcome
    }
}

extension BuiltProgram.Outcome {
    /// A run that ended well, with this line of result.
    static func updated(_ line: String = "sim:band: updated: it runs 1.1.0 (before: 1.0.0)") -> Self {
        Self(output: line + "\n", errors: "", status: 0)
    }

    /// A run that failed with one line on stderr, and nothing on stdout.
    static func failed(_ status: Int32, _ line: String) -> Self {
        Self(output: "", errors: line + "\n", status: status)
    }

    /// The JSON objects on stdout.
    func events() throws -> [JSONEvent] { try JSONEvent.events(in: output) }
}

/// One line of `--json`.
struct JSONEvent {
    var members: [String: JSONValue]

    static func events(in output: String) throws -> [Self] {
        try output.split(separator: "\n").map { line in
            let value = try JSONValue(parsing: Array(line.utf8))
            guard case .object(let members) = value else { preconditionFailure("a line is an object: \(line)") }
            return Self(members: members)
        }
    }

    subscript(name: String) -> JSONValue? { members[name] }

    var name: String { text("event") ?? "" }

    func text(_ name: String) -> String? {
        guard case .string(let text) = members[name] else { return nil }
        return text
    }

    func number(_ name: String) -> Double? {
        guard case .number(let number) = members[name] else { return nil }
        return number
    }
}

extension [JSONEvent] {
    var results: Self { filter { $0.name == "result" } }
    var fractions: [Double] { compactMap { $0.number("fraction") } }
}
