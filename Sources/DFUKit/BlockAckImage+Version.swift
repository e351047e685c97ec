internal import DFUPackage
internal import DFUProtocol

extension BlockAck.Image {
    /// The version that the device is told, or nil where it is asked to skip its version check.
    var announcedVersion: BlockAck.Version? { version == .any ? nil : version }

    /// Whether a device that shows `text` as its version runs this image, by the first three numbers.
    func isVersion(_ text: String) -> Bool {
        let shown = FileName(text, crc32: 0).version?.numbers ?? []
        guard !shown.isEmpty else { return false }
        return (shown + [0, 0]).prefix(3).elementsEqual([version.major, version.minor, version.patch].map(Int.init))
    }
}
