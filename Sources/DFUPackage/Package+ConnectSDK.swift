// Packages of the nRF Connect SDK.
extension Package {
    mutating func readConnectSDK(
        _ manifest: ConnectSDKManifest, in folder: String, of archive: inout ZipArchive
    ) throws(PackageError) {
        guard !manifest.files.isEmpty else {
            throw PackageError(
                .missing, reason: "noFirmware",
                message: "the manifest's files are empty, so it names no firmware; make the package again")
        }
        guard manifest.files.count <= Self.partLimit else {
            throw PackageError(
                .excessive, reason: "tooManyParts",
                message: "the manifest names \(manifest.files.count) files, past the limit of \(Self.partLimit)")
        }
        if let file = manifest.files.first(where: { $0.type?.hasPrefix("suit") == true }) {
            throw PackageError(
                .unsupported, reason: "suitUnsupported",
                message: "\(file.file) is a SUIT envelope, which is not an MCUboot image and goes another way")
        }
        if let version = manifest.formatVersion, version > 1 {
            warnings.append(
                PackageWarning(
                    reason: "formatVersion",
                    message: "the manifest has the format-version \(version); known are 0 and 1"))
        }
        for file in manifest.files {
            do throws(PackageError) {
                let entry = try entry(named: file.file, in: folder, of: archive)
                var part = Part(role: .image, fileName: file.file, firmware: try archive.read(entry))
                part.sizes.application = part.firmware.count
                part.imageIndex = file.imageIndex
                part.slot = file.slot
                parts.append(part)
                check(part, file)
            } catch {
                problems.append(error)
            }
        }
        numberImages(manifest)
        parts.sort { ($0.imageIndex ?? 0, $0.slot ?? 0) < ($1.imageIndex ?? 0, $1.slot ?? 0) }
    }

    /// Gives an image its number where the manifest says none, and sees to it that no two files are for one place.
    private mutating func numberImages(_ manifest: ConnectSDKManifest) {
        let unnumbered = manifest.files.filter { $0.imageIndex == nil }
        let slots = Set(manifest.files.compactMap(\.slot))
        // Without numbers it is one image: in one file, or in one for each slot.
        if manifest.files.count == 1 || unnumbered.count == slots.count && slots.count == manifest.files.count {
            for index in parts.indices where parts[index].imageIndex == nil { parts[index].imageIndex = 0 }
        } else if let file = unnumbered.first {
            problems.append(
                PackageError(
                    .missing, reason: "imageIndexMissing",
                    message: "the manifest has \(manifest.files.count) files and gives \(file.file) no image_index, "
                        + "so it is not clear which image it is; make the package again"))
            return
        }
        var places: [[Int?]: String] = [:]
        for part in parts {
            let place = [part.imageIndex, part.slot]
            if let other = places.updateValue(part.fileName, forKey: place) {
                problems.append(
                    PackageError(
                        .malformed, reason: "duplicateImage",
                        message: "the manifest has two files for image \(part.imageIndex ?? 0), \(other) and "
                            + "\(part.fileName), and no slot that tells them apart; make the package again"))
            }
        }
    }

    private mutating func check(_ part: Part, _ file: ConnectSDKManifest.File) {
        if let size = file.size, size != part.firmware.count {
            problems.append(
                PackageError(
                    .mismatch, reason: "sizeMismatch",
                    message: "\(file.file) has \(part.firmware.count) bytes, the manifest says \(size); "
                        + "get the package again"))
        }
        let image = part.mcuboot ?? MCUbootImage(reading: part.firmware)
        problems += image.problems.map { $0.naming(file.file) }
        if let stated = file.version.flatMap({ FirmwareVersion($0) }), let version = image.version,
            stated.numbers.prefix(3) != version.numbers.prefix(3)
        {
            warnings.append(
                PackageWarning(
                    reason: "manifestDiffers",
                    message: "the manifest says version \(stated) of \(file.file), its header \(version), which counts")
            )
        }
    }
}
