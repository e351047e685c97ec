import DFUPackage
import TestSupport
import Testing

/// Strange and broken zips, with what other tools (unzip, 7z, bsdtar, Python, nrfutil) do with them beside each.
@Suite(.enabled(if: SharedFolder.path("fixtures/made/odd") != nil))
struct OddPackagesTests {
    /// What is wrong with each; a file that is not here has to be sound. The word behind says why, where another tool
    /// sees it otherwise.
    private static let faults: [String: [String]] = [
        // No zip, or one that is cut or damaged; so say all tools, where nothing else is said.
        "7z_real7z.zip": ["notFirmware"], "gzip.zip": ["notFirmware"], "html.zip": ["notFirmware"],
        "zero.zip": ["empty"],
        "truncated_half.zip": ["zipUnreadable"], "truncated_tail.zip": ["zipUnreadable"],
        "bad_crc_entry.zip": ["entryCRC"],
        // nrfutil and unzip with a warning read it; a package with a program in front of it is nobody's release.
        "prefix_junk.zip": ["notFirmware"],
        // unzip and nrfutil take the real size, 7z and bsdtar refuse; a directory that lies is a damaged file.
        "lying_size.zip": ["entryTooLarge"],

        // Packed in a way that phones cannot read either. Python, and so nrfutil, reads bzip2 and LZMA.
        "7z_aes.zip": ["encrypted"], "infozip_encrypted.zip": ["encrypted"],
        "7z_deflate64.zip": ["compressionUnsupported"],
        "bzip2.zip": ["compressionUnsupported"], "lzma.zip": ["compressionUnsupported"],

        // Larger than any firmware. Other tools unpack whatever comes.
        "bomb_1MiB_manifest.zip": ["manifestTooLarge"], "bomb_64MiB_bin.zip": ["entryTooLarge"],

        // Names. unzip strips what leads out, and so would read another file than the maker meant.
        "manifest_abs.zip": ["unsafePath", "unsafePath", "unsafePath", "unsafePath"],
        "manifest_traversal.zip": ["unsafePath", "unsafePath", "unsafePath", "unsafePath"],
        // Python takes the last of the two, unzip the first, and nrfutil fails.
        "duplicate_manifest.zip": ["duplicateName"],

        // No manifest, or one that names nothing.
        "empty.zip": ["manifestMissing"], "infozip_dos.zip": ["manifestMissing"],
        "no_manifest.zip": ["manifestMissing"],
        "manifest_array.zip": ["manifestMalformed"], "manifest_not_json.zip": ["manifestNotJSON"],
        "manifest_zero_len.zip": ["manifestNotJSON"],
        // nrfutil shows a package of no images; there is nothing to send.
        "manifest_empty_obj.zip": ["noFirmware"],

        // Files that are named and not there. nrfutil's display does not look for the firmware.
        "missing_bin.zip": ["fileMissing"], "missing_dat.zip": ["fileMissing"],
        "only_manifest.zip": ["fileMissing", "fileMissing"],

        // Init packets.
        "dat_empty.zip": ["initPacketMalformed"], "dat_garbage.zip": ["initPacketMalformed"],
        "dat_truncated.zip": ["initPacketMalformed"], "dat_reset_cmd.zip": ["notAnInitCommand"],

        // Firmware and init packet do not fit. nrfutil's display checks neither size nor hash.
        "bin_empty.zip": ["emptyFirmware"], "bin_flipped.zip": ["hashMismatch"],
        "bin_padded_ff.zip": ["sizeMismatch", "hashMismatch"], "bin_truncated.zip": ["sizeMismatch", "hashMismatch"],
        "legacy_crc_wrong.zip": ["crc16Mismatch"],
        // These three carry the init packet of another firmware.
        "manifest_bin_is_hex.zip": ["sizeNotMultipleOf4", "crc16Mismatch"],
        "old_style_hex.zip": ["sizeNotMultipleOf4", "crc16Mismatch"], "old_style_all.zip": ["crc16Mismatch"],
        // The application's init packet stands in every slot; nrfutil's display does not compare them.
        "four_images.zip": ["conflictingParts", "imageTypeMismatch", "imageTypeMismatch", "imageTypeMismatch"],
        "manifest_numbers_as_strings.zip": ["imageTypeMismatch"],
    ]

    /// Sound, and worth a word.
    private static let warnings: [String: [String]] = [
        "upper_files.zip": ["letterCase", "letterCase"], "upper_manifest.zip": ["letterCase"],
        "manifest_unknown_key.zip": ["unknownKey", "unknownKey"],
        "legacy_14byte_old.zip": ["manifestDiffers", "manifestDiffers", "manifestDiffers"],
        // The iOS library sends such a package to bootloaders of SDK 6 and older; nrfutil does not read it.
        "legacy_no_dat.zip": ["noInitPacket"], "manifest_dat_null.zip": ["noInitPacket"],
        "manifest_no_dat_key.zip": ["noInitPacket"],
    ]

    @Test(arguments: Sidecar.all(in: "odd"))
    func odd(_ name: String) throws {
        let sidecar = try Sidecar("made/odd/\(name)")
        let package = try Package.open(sidecar.path)
        #expect(package.problems.map(\.reason) == Self.faults[name] ?? [], "\(package.problems.map(\.message))")
        guard Self.faults[name] == nil else { return }
        #expect(package.warnings.map(\.reason) == Self.warnings[name] ?? [])
        #expect(package.parts.map(\.role) == [.application])
        // All of them were made of one firmware.
        #expect(package.parts.first.map { Checksum.crc32($0.firmware) } == 0xE47B_595B)
    }

    @Test func theTablesNameFilesThatAreThere() {
        let names = Set(Sidecar.all(in: "odd"))
        #expect(Set(Self.faults.keys).union(Self.warnings.keys).subtracting(names) == [])
    }
}

/// The inputs of the acceptance cases, as they were given.
@Suite(.enabled(if: SharedFolder.path("cases/inputs") != nil))
struct CaseInputsTests {
    @Test(arguments: [
        ("good_app.zip", Package.Kind.nordicSecure, [10_000], [String]()),
        ("p01_folder_macos.zip", .nordicSecure, [10_000], []), ("p02_two_json.zip", .nordicSecure, [10_000], []),
        ("p03_dot_slash.zip", .nordicSecure, [10_000], []),
        ("p03b_traversal.zip", .nordicSecure, [0], ["unsafePath", "unsafePath"]),
        ("p04_missing_bin.zip", .nordicSecure, [0], ["fileMissing"]),
        ("p05_ncs_string_numbers.zip", .connectSDK, [10_072], []), ("p06_ncs_no_index.zip", .connectSDK, [10_072], []),
        ("p07_legacy_dfu_version.zip", .nordicLegacy, [1000], []),
        ("p08_legacy_1003.zip", .nordicLegacy, [1003], ["sizeNotMultipleOf4"]),
        ("p09_sdbl_app_no_sizes.zip", .nordicSecure, [6000, 10_000], []),
        ("p11_sha512.bin", .mcuboot, [10_104], []), ("p12_protected.bin", .mcuboot, [10_084], []),
        ("p14_truncated.bin", .mcuboot, [10_052], ["truncated"]), ("p14b_short.bin", .mcuboot, [20], ["truncated"]),
        ("p15_hash_wrong.bin", .mcuboot, [10_072], ["digestMismatch"]), ("p16_unsigned.bin", .binary, [10_000], []),
        ("p17_ram.hex", .intelHex, [], ["dataOutsideFlash"]), ("p18_segment.hex", .intelHex, [32], []),
        ("p19_dat_is_bin.zip", .nordic, [10_000], ["initPacketIsFirmware"]),
        ("band_v1.4.2_7635C750.bin", .binary, [10_000], ["crcMismatch"]), ("band_v1.4.2.bin", .binary, [10_000], []),
        ("band_v1.4.2_7635C751 (1).bin", .binary, [10_000], []), ("band_v1.4.2_7635c751.BIN", .binary, [10_000], []),
    ])
    func inputs(_ name: String, _ kind: Package.Kind, _ sizes: [Int], _ reasons: [String]) throws {
        let package = try Package.open(try #require(SharedFolder.path("cases/inputs/\(name)")))
        #expect(package.kind == kind)
        #expect(package.parts.map(\.firmware.count) == sizes)
        #expect(package.problems.map(\.reason) == reasons, "\(package.problems.map(\.message))")
    }
}
