// How a zip is read: its manifest is looked for, and what the manifest names is read by one of the two readers.
extension Package {
    /// No manifest comes near it: a hundred images have some 50 KiB.
    private static let manifestLimit = 256 << 10
    /// Devices have at most four images with two slots each; this leaves room.
    static let partLimit = 64

    mutating func readZip(_ bytes: [UInt8]) throws(PackageError) {
        var archive = try ZipArchive(bytes)
        problems += archive.problems
        guard let entry = try manifestEntry(archive) else {
            return try readWellKnownNames(&archive)
        }
        guard entry.size <= Self.manifestLimit else {
            throw PackageError(
                .excessive, reason: "manifestTooLarge",
                message: "\(entry.path) has \(entry.size) bytes, past the limit of \(Self.manifestLimit)")
        }
        let object = try JSONObject(parsing: try archive.read(entry), named: entry.path)
        let folder = ArchivePath.folder(of: entry.path)
        if let nordic = try object.object("manifest") {
            let manifest = try NordicManifest(nordic)
            kind = .nordic
            self.manifest = .nordic(manifest)
            try readNordic(manifest, in: folder, of: &archive)
        } else if object.has("files") {
            let manifest = try ConnectSDKManifest(object)
            kind = .connectSDK
            self.manifest = .connectSDK(manifest)
            try readConnectSDK(manifest, in: folder, of: &archive)
        } else {
            throw PackageError(
                .unsupported, reason: "manifestUnknown",
                message: "\(entry.path) has neither manifest (Nordic DFU) nor files (nRF Connect SDK), "
                    + "so it names no firmware")
        }
    }

    /// The entry that `name` in the manifest means.
    mutating func entry(
        named name: String, in folder: String, of archive: borrowing ZipArchive
    ) throws(PackageError) -> ZipArchive.Entry {
        guard let path = ArchivePath.normal(name) else {
            throw ArchivePath.unsafe(name, in: "the manifest names a file")
        }
        if let entry = archive.entries.first(where: { $0.path == folder + path }) { return entry }
        let similar = archive.entries.filter { $0.path.lowercased() == (folder + path).lowercased() }
        guard similar.count == 1 else {
            throw PackageError(
                .missing, reason: "fileMissing",
                message: "the manifest names \(name), and the zip lacks it; make the package again")
        }
        warnings.append(
            PackageWarning(
                reason: "letterCase",
                message: "the manifest names \(name), in the zip it is \(similar[0].path)"))
        return similar[0]
    }

    /// The one at the root, or the only one in a folder. Only the name `manifest.json` counts.
    private mutating func manifestEntry(_ archive: borrowing ZipArchive) throws(PackageError) -> ZipArchive.Entry? {
        let candidates = archive.entries.filter { ArchivePath.name(of: $0.path).lowercased() == "manifest.json" }
        let exact = candidates.filter { ArchivePath.name(of: $0.path) == "manifest.json" }
        let named = exact.isEmpty ? candidates : exact
        let rooted = named.filter { ArchivePath.folder(of: $0.path).isEmpty }
        guard let entry = rooted.first ?? named.first else { return nil }
        guard !rooted.isEmpty || named.count == 1 else {
            throw PackageError(
                .malformed, reason: "manifestAmbiguous",
                message:
                    "the zip has \(named.count) manifests (\(named.prefix(3).map(\.path).joined(separator: ", "))) "
                    + "and none at its root; give the inner packages one by one")
        }
        if exact.isEmpty {
            warnings.append(
                PackageWarning(reason: "letterCase", message: "the manifest is called \(entry.path) in the zip"))
        }
        return entry
    }

    /// Packages from before manifests, which are of Legacy DFU: their files have fixed names.
    ///
    /// Other makers' archives have a `bootloader.bin` too, so what belongs to the system counts only with its init packet.
    private mutating func readWellKnownNames(_ archive: inout ZipArchive) throws(PackageError) {
        let files = archive.entries.map(\.path)
        let names: [(role: Part.Role, initPacket: String)] = [
            (.softdevice, "system.dat"), (.bootloader, "system.dat"), (.application, "application.dat"),
        ]
        let wellKnown = Set(names.flatMap { ["\($0.role.rawValue).bin", "\($0.role.rawValue).hex"] })
        let folder = files.first { wellKnown.contains(ArchivePath.name(of: $0)) }.map(ArchivePath.folder) ?? ""
        var entries: [NordicManifest.Entry] = []
        for (role, initPacket) in names {
            let candidates = ["\(role.rawValue).bin", "\(role.rawValue).hex"]
            let hasInitPacket = files.contains(folder + initPacket)
            guard let file = candidates.first(where: { files.contains(folder + $0) }),
                hasInitPacket || role == .application
            else { continue }
            entries.append(
                NordicManifest.Entry(
                    role: role, firmwareFile: file, initPacketFile: hasInitPacket ? initPacket : nil))
        }
        guard !entries.isEmpty else { throw noManifest(archive) }
        kind = .nordic
        try readNordic(NordicManifest(entries), in: folder, of: &archive)
    }

    private func noManifest(_ archive: borrowing ZipArchive) -> PackageError {
        let paths = archive.entries.map(\.path)
        guard let first = paths.first else {
            return PackageError(
                .missing, reason: "manifestMissing", message: "the zip has no files in it; get it again")
        }
        if let inner = paths.first(where: { $0.lowercased().hasSuffix(".zip") }) {
            return PackageError(
                .missing, reason: "manifestMissing",
                message: "the zip has no manifest.json, but another zip in it, \(inner); unpack it and give that one")
        }
        let list = paths.count > 4 ? "\(paths.prefix(3).joined(separator: ", ")) and \(paths.count - 3) more" : nil
        return PackageError(
            .missing, reason: "manifestMissing",
            message: "the zip has no manifest.json, so it is no firmware package; it has "
                + (list ?? (paths.count == 1 ? first : paths.joined(separator: ", "))))
    }
}
