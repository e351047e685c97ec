import TestSupport
import Testing

/// `--key`, with which a package has to be signed.
@Suite(.blocking) struct SignatureKeyOptionTests {
    private static let device = "sim:secure?time=virtual"

    private let bench: FlashBench
    private let key: String
    private let otherKey: String

    init() throws {
        bench = try FlashBench()
        key = try bench.write(SignedFirmware.key, to: "key.pem")
        otherKey = try bench.write(SignedFirmware.otherKey, to: "other.pem")
    }

    private func zip(_ signing: SignedFirmware.Signing) throws -> String {
        try bench.folder.write(SignedFirmware.zip(signing), to: "app.zip")
    }

    private func info(_ file: String, _ key: String, json: Bool = false) -> BuiltProgram.Outcome {
        bench.withoutFolder(
            BuiltProgram(arguments: ["info", file, "--key", key] + (json ? ["--json"] : [])).run())
    }

    @Test("A package that the key's owner has signed is sent, also to a device with that key")
    func signed() throws {
        let outcome = bench.flash(
            sending: try zip(.asItIs), on: [Self.device + "&key=" + key], ["--key", key])
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
    }

    @Test("One that is not is refused before anything is sent")
    func refused() throws {
        let unsigned =
            "dfu: app.zip: check: application.dat, the init packet of application.bin, is not signed; use the package that "
            + "the key's owner has signed"
        let other =
            "dfu: app.zip: check: the signature in application.dat, the init packet of application.bin, is not this key's: "
            + "it was made with another key, or the init packet was changed afterwards"
        #expect(bench.flash(sending: try zip(.not), on: [Self.device], ["--key", key]) == .failed(65, unsigned))
        #expect(bench.flash(sending: try zip(.asItIs), on: [Self.device], ["--key", otherKey]) == .failed(65, other))
        let altered = bench.flash(sending: try zip(.altered), on: [Self.device], ["--key", key, "--json"])
        #expect(altered.status == 65)
        #expect(try altered.events().results.map { $0.text("reason") } == ["signatureInvalid"])
    }

    @Test("A key does not go with a package whose kind has no such signature")
    func otherKinds() throws {
        let objection = "--key is for a package of Secure DFU, whose init packets are signed, and"
        let legacy = ProjectFile.path("Fixtures/packages/legacy_application.zip")
        let band = bench.flash(["--key", key])
        #expect(band.status == 64)
        #expect(band.errors.contains("check: \(objection) band_v1.1.0_"), "\(band.errors)")
        let flash = bench.flash(sending: legacy, on: [Self.device], ["--key", key])
        #expect(flash == .failed(64, "dfu: check: \(objection) legacy_application.zip is none; leave it out"))
        #expect(info(legacy, key) == .failed(64, "dfu: \(objection) legacy_application.zip is none; leave it out"))
    }

    @Test("A key's file that cannot be read is 66, and one that is no key 65")
    func keyFiles() throws {
        let package = try zip(.asItIs)
        let missing = bench.flash(sending: package, on: [Self.device], ["--key", bench.path("nosuch.pem")])
        #expect(missing == .failed(66, "dfu: nosuch.pem: cannot be read: No such file or directory"))
        let text = try bench.write("no key", to: "note.txt")
        let line =
            "dfu: note.txt: this is no key of ECDSA over P-256; give the public key in PEM, as 'openssl ec -pubout' and "
            + "'nrfutil keys display --format pem' write it"
        #expect(bench.flash(sending: package, on: [Self.device], ["--key", text]) == .failed(65, line))
        #expect(info(package, text) == .failed(65, line))
    }

    @Test("info shows whether the signature is the key's")
    func shown() throws {
        let signed = info(try zip(.asItIs), key)
        #expect(signed.status == 0)
        #expect(signed.output.contains("  Signature    ECDSA_P256_SHA256, verified with the key\n"), "\(signed.output)")
        #expect(signed.output.hasSuffix("\nSound, and signed with the key.\n"))
        let other = info(try zip(.asItIs), otherKey)
        #expect(other.status == 65)
        #expect(other.output.contains("  Signature    ECDSA_P256_SHA256, not this key's\n"), "\(other.output)")
        #expect(other.output.hasSuffix("\nNot sound: 1 problem.\n"))
        let unsigned = info(try zip(.not), key, json: true)
        #expect(unsigned.status == 65)
        #expect(unsigned.output.contains("\"reason\" : \"signatureMissing\""), "\(unsigned.output)")
    }
}
