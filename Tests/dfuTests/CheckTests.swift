import DFUTransport
import TestSupport
import Testing

/// `dfu check` with simulated devices.
@Suite(.blocking) struct CheckTests {
    private let bench: FlashBench

    init() throws {
        bench = try FlashBench()
    }

    private func check(
        _ package: String? = nil, on device: String, _ options: [String] = []
    ) -> BuiltProgram.Outcome {
        let program = BuiltProgram(arguments: ["check", package ?? bench.package, "--device", device] + options)
        return bench.withoutFolder(program.run())
    }

    private func zip(_ signing: SignedFirmware.Signing = .not) throws -> String {
        try bench.folder.write(SignedFirmware.zip(signing), to: "app.zip")
    }

    /// The name of the band's package.
    private var bandPackage: String { String(bench.package.split(separator: "/").last ?? "") }

    // MARK: Block-ack

    @Test("A band is asked for its battery, and its version compared with the package's")
    func band() {
        let text = """
            \(bandPackage) on sim:band
              Protocol     block-ack, by its answer to the battery question
              Battery      80 %, and an update wants 30 %
              Package      no fault was found in \(bandPackage)
              To be sent   6000 bytes, version 1.1.0
              Version      it runs 1.0.0, and the package's is newer
              Interrupted  the device says only when an update begins where it goes on

            Nothing stands in the way, as far as can be known.

            """
        #expect(check(on: "sim:band?time=virtual") == .init(output: text, errors: "", status: 0))
    }

    @Test("A band that is low, and one that runs a newer version, would refuse")
    func unfitBands() throws {
        let low = check(on: "sim:band?time=virtual&battery=10")
        #expect(low.status == 76)
        #expect(
            low.errors == "dfu: sim:band: check: its battery is at 10 %, and an update wants 30 %; charge it\n")
        #expect(low.output.contains("  Battery      NO: its battery is at 10 %"))
        #expect(low.output.hasSuffix("\nAn update would fail: 1 point stands in the way.\n"))
        #expect(check(on: "sim:band?time=virtual&battery=10", ["--skip-check", "battery"]).status == 0)
        let newer = check(on: "sim:band?time=virtual&version=1.1.0")
        #expect(newer.status == 76)
        #expect(
            newer.errors
                == "dfu: sim:band: check: it runs 1.1.0, and the package's version 1.1.0 is not newer; use a newer package, "
                + "or --allow-downgrade\n")
        #expect(check(on: "sim:band?time=virtual&version=1.1.0", ["--allow-downgrade"]).status == 0)
    }

    @Test("A package of another kind does not fit")
    func otherProtocol() throws {
        let zip = ProjectFile.path("Fixtures/packages/dfu_application.zip")
        let outcome = check(zip, on: "sim:band?time=virtual", ["--json"])
        #expect(outcome.status == 65)
        let document = try document(outcome)
        #expect(document["ok"] == .boolean(false))
        #expect(document["status"] == .number(65))
        #expect(document["reason"] == .string("notForBlockAck"))
        let bare = check(on: "sim:secure?time=virtual")
        #expect(bare.status == 65)
        #expect(bare.errors.contains("is a bare image, and Secure DFU carries a .zip with init packets alone"))
    }

    // MARK: Secure DFU

    @Test("An application stays in it, and what only its bootloader can tell is named")
    func application() throws {
        let text = """
            app.zip on sim:secure
              Protocol     Secure DFU, as the package
              Mode         in its application, which stays where it is
              Version      it runs 7
              Package      no fault was found in app.zip
              To be sent   application: 6000 bytes
              Signature    not signed; a bootloader that has a key refuses it
              Hardware     cannot be asked; the package wants hw_version 52
              SoftDevice   cannot be asked; the package wants sd_req 0x0100
              Firmware     cannot be asked; the package has fw_version 1, and the device has
                           to hold no higher one
              Takes        can be asked only in its bootloader
              Interrupted  can be asked only in its bootloader

            Nothing stands in the way, as far as can be known.

            """
        let outcome = check(try zip(), on: "sim:secure?time=virtual&version=7")
        #expect(outcome == .init(output: text, errors: "", status: 0))
    }

    @Test("A bootloader tells what it takes and what it holds, and keeps that")
    func bootloader() throws {
        let state = bench.path("device.json")
        // So slow that a part of the transfer takes seconds.
        let device = "sim:secure?time=virtual&start=bootloader&mtu=23&interval=500&state=" + state
        let fresh = check(try zip(), on: device)
        #expect(fresh.status == 0, "\(fresh)")
        #expect(
            fresh.output.contains(
                "  Takes        an init packet of 512 bytes, firmware in objects of 4096: 2 to be\n"),
            "\(fresh.output)")
        #expect(fresh.output.contains("  Interrupted  none: the device begins anew\n"))

        #expect(bench.flash(sending: try zip(), on: [device], ["--timeout", "20"]).status == 75)
        let before = try JSONValue(parsing: try bench.bytes("device.json"))
        let resumed = check(try zip(), on: device)
        #expect(resumed.status == 0)
        #expect(resumed.output.contains("  Interrupted  of this package: "), "\(resumed.output)")
        let other = check(ProjectFile.path("Fixtures/packages/secure_application.zip"), on: device)
        #expect(
            other.output.contains("  Interrupted  of another package, which this one replaces\n"), "\(other.output)")
        #expect(try JSONValue(parsing: try bench.bytes("device.json")) == before)
        #expect(bench.flash(sending: try zip(), on: [device]).status == 0)
    }

    @Test("With a key the signature is a point")
    func signature() throws {
        let key = try bench.write(SignedFirmware.key, to: "key.pem")
        let signed = check(try zip(.asItIs), on: "sim:secure?time=virtual", ["--key", key])
        #expect(signed.status == 0)
        #expect(
            signed.output.contains("  Signature    verified with the key; whether it is the device's cannot be asked\n")
        )
        let unsigned = check(try zip(.not), on: "sim:secure?time=virtual", ["--key", key, "--json"])
        #expect(unsigned.status == 65)
        #expect(try document(unsigned)["reason"] == .string("signatureMissing"))
        let band = check(on: "sim:band?time=virtual", ["--key", key])
        #expect(band.status == 64)
    }

    @Test("An unsound package is told as that, whatever the device says")
    func unsound() throws {
        var bytes = SignedFirmware.zip(.not)
        let begin = try #require(bytes.firstRange(of: SignedFirmware.image.prefix(16)))
        bytes[begin.lowerBound] ^= 1
        let file = try bench.folder.write(bytes, to: "damaged.zip")
        #expect(check(file, on: "sim:secure?time=virtual").status == 65)
    }

    @Test("One document says all of it")
    func json() throws {
        let document = try document(check(try zip(), on: "sim:secure?time=virtual&start=bootloader", ["--json"]))
        #expect(document["ok"] == .boolean(true))
        #expect(document["status"] == .number(0))
        #expect(document["device"] == .string("sim:secure"))
        #expect(document["protocol"] == .string("secure"))
        #expect(document["simulated"] == .boolean(true))
        guard case .array(let points)? = document["points"] else {
            Issue.record("no points")
            return
        }
        let verdicts = points.map { point in
            guard case .object(let members) = point, case .string(let subject)? = members["subject"],
                case .string(let verdict)? = members["verdict"]
            else { return "" }
            return "\(subject) \(verdict)"
        }
        #expect(
            verdicts == [
                "protocol fits", "mode fits", "package fits", "part fits", "signature unknown", "hardware unknown",
                "softdevice unknown", "firmwareVersion unknown", "objectSize fits", "interrupted fits",
            ])
    }

    @Test("A part that the package does not have is the package's fault")
    func only() throws {
        let outcome = check(try zip(), on: "sim:secure?time=virtual", ["--only", "bootloader"])
        #expect(outcome.status == 65)
        #expect(
            outcome.errors
                == "dfu: sim:secure: check: app.zip: the package has no bootloader part; it has: application\n")
    }

    private func document(_ outcome: BuiltProgram.Outcome) throws -> [String: JSONValue] {
        guard case .object(let document) = try JSONValue(parsing: Array(outcome.output.utf8)) else {
            Issue.record("no object: \(outcome)")
            return [:]
        }
        return document
    }
}
