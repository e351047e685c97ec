import DFUTransport

extension DeviceProfile {
    /// The profile in a file, or the built-in band's.
    static func load(_ path: String?) throws(Failure) -> DeviceProfile {
        guard let path else { return .band }
        let bytes = try InputFile.read(path)
        do throws(DeviceProfileError) {
            return try DeviceProfile(json: bytes)
        } catch {
            throw Failure(.config, subject: path, error.problems.joined(separator: "; "))
        }
    }
}
