import DFUKit
import DFUPackage

extension Verb {
    static let replay = Verb(
        "replay", ReplayCapture.self, abstract: "Play a captured update against the procedure.",
        discussion: [
            "Reads what 'dfu flash --capture' has written, plays the device's answers, time-outs and lost links to the "
                + "procedures of this version, and compares all that they write. It needs no device and takes no time. The "
                + "first difference is shown with its line, and ends it with 65.",
            "Without PACKAGE zeros stand in for the firmware: packets that carry it are compared by their number and length, "
                + "and everything else byte for byte.",
        ],
        examples: [
            Example(
                line: "dfu flash band_v1.1.0_810A8FF9.bin --device sim:band --capture update.txt",
                meaning: "Capture an update."),
            Example(line: "dfu replay update.txt", meaning: "See whether the procedure does the same again."),
            Example(
                line: "dfu replay update.txt band_v1.1.0_810A8FF9.bin --json",
                meaning: "The firmware's bytes too, and one JSON document."),
        ],
        statuses: [.ok, .usage, .package, .input, .internal, .output, .config])
}

/// `dfu replay FILE [PACKAGE]`.
struct ReplayCapture: Command {
    var file = ""
    var package: String?
    var json = false

    /// More than a capture of the largest update has.
    private static let largestFile = 1 << 26

    static let grammar = Grammar<ReplayCapture>(
        arguments: [
            .argument(\.file, .file("capture"), help: "The file that 'dfu flash --capture' has written."),
            .argument(\.package, .file("package"), help: "What was sent: a .zip, a .bin or a .hex file."),
        ],
        groups: [OptionGroup("Output options", [.flag("json", \.json, help: "Print one JSON document.")])])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let capture: Capture
        let replay: Replay
        do throws(Failure) {
            (capture, replay) = try play()
        } catch {
            if json { session.console.result(JSONDocument.text(error)) }
            throw error
        }
        let description = ReplayDescription(capture, replay)
        if json { session.console.result(JSONDocument.text(description)) }
        guard let difference = replay.difference else {
            if !json { session.console.result("\(file): \(description.message)".printable) }
            return .ok
        }
        if !json {
            session.console.result("\(file):\(difference.line)".printable)
            session.console.result("  captured   \(difference.captured)".printable)
            session.console.result("  procedure  \(difference.procedure)".printable)
        }
        throw Failure(
            .package, subject: file, reason: ReplayDescription.differs, description.message)
    }

    private func play() throws(Failure) -> (Capture, Replay) {
        let bytes = try InputFile.read(file, limit: Self.largestFile, tooLarge: .package)
        do {
            let capture = try Capture(reading: bytes)
            let package = try package.map { path throws(PackageError) in try Package.open(path) }
            return (capture, try capture.replay(with: package))
        } catch let error as CaptureError {
            let line = error.line.map { "line \($0): " } ?? ""
            throw Failure(.package, subject: file, reason: error.reason, line + error.message)
        } catch let error as PackageError {
            throw Failure(error)
        } catch {
            preconditionFailure("\(error) is thrown by none of them")
        }
    }
}

/// What came of a replay, for programs, and in a sentence for people.
struct ReplayDescription: Encodable {
    /// The reason of a difference.
    static let differs = "captureDiffers"

    var schema = 1
    var ok: Bool
    var status: Int32
    var name: String
    var reason: String?
    var message: String
    /// Who wrote the capture.
    var program: String?
    var `protocol`: String?
    var writes: Int
    var answers: Int
    var links: Int
    /// Whether the capture has the end of the update.
    var complete: Bool
    /// How the update ended, as captured.
    var result: String?
    /// What the procedure would do next, where the capture stops in it.
    var next: String?
    /// Where the procedure does something else, what stands there, and what it does.
    var line: Int?
    var captured: String?
    var procedure: String?

    init(_ capture: Capture, _ replay: Replay) {
        let status = replay.difference == nil ? ExitStatus.ok : .package
        ok = status == .ok
        self.status = status.rawValue
        name = status.name
        reason = ok ? nil : Self.differs
        program = capture.program
        self.protocol = capture.protocolName
        (writes, answers, links) = (replay.writes, replay.answers, replay.links)
        complete = replay.result != nil
        result = replay.result
        next = replay.next
        line = replay.difference?.line
        captured = replay.difference?.captured
        procedure = replay.difference?.procedure
        message = Self.message(capture, replay)
    }

    private static func message(_ capture: Capture, _ replay: Replay) -> String {
        let agreed = [
            count(replay.writes, "write"), count(replay.answers, "answer"), count(replay.links, "link"),
        ].joined(separator: ", ")
        if let difference = replay.difference {
            let program = capture.program.map { " (captured by \($0))" } ?? ""
            return
                "line \(difference.line): the procedure of dfu \(Version.current) does something else\(program), after "
                + "\(agreed) that agree"
        }
        if let result = replay.result {
            let message = replay.resultMessage.map { $0.isEmpty ? "" : " (\($0))" } ?? ""
            return "agrees: \(agreed), ended as captured: \(result)\(message)"
        }
        let next = replay.next.map { "; next would be: \($0)" } ?? ""
        return "agrees as far as it goes: \(agreed); the capture stops before the update's end\(next)"
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}
