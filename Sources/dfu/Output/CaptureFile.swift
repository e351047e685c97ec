import DFUKit
import DFUTransport
private import Dispatch
private import Glibc

/// The file that what is done with a device is written down in.
///
/// Lines are written on a queue of their own, as they come. A file that takes no more ends the capture, and nothing else.
final class CaptureFile: Sendable {
    /// What a capture begins with.
    private static let magic = "# capture: "

    private let path: String
    private let file: FileDescriptor
    private let queue = DispatchQueue(label: "capture")
    private let isFull = Locked(false)

    /// Opens the file, in place of an earlier capture. What is no capture is left alone: nobody wants that to be lost.
    init(_ path: String) throws(Failure) {
        self.path = path
        guard Self.mayBeOverwritten(path) else {
            throw Failure(.output, subject: path, "it is there already, and is no capture; name another file")
        }
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o666)
        guard number >= 0 else { throw Failure(.output, subject: path, Self.unwritable(errno)) }
        file = FileDescriptor(owning: number)
    }

    /// A capture that goes to the file; `warn` is called once where the file takes no more.
    func recorder(warn: @escaping @Sendable (_ reason: String, _ message: String) -> Void) -> CaptureRecorder {
        let recorder = CaptureRecorder(program: "dfu \(Version.current)") { [self] line in
            queue.async { [self] in
                guard !isFull.withLock(\.self), let error = writeAll(line.printable + "\n") else { return }
                isFull.withLock { $0 = true }
                warn("captureIncomplete", "the capture \(path) \(Self.unwritable(error)); all goes on without it")
            }
        }
        recorder.note(.time, JSONLine.now)
        return recorder
    }

    /// Writes down how it ended, and why where nothing else in it says so; waits until all is written.
    func end(_ recorder: CaptureRecorder, _ status: ExitStatus, because message: String? = nil) async {
        recorder.note(.status, "\(status.rawValue) \(status.name)", message)
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    /// Whether nothing is there, or nothing but a capture. What is no regular file holds nothing.
    private static func mayBeOverwritten(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return true }
        let number = open(path, O_RDONLY | O_CLOEXEC)
        // One that cannot be read may be anything.
        guard number >= 0 else { return false }
        let file = FileDescriptor(owning: number)
        var beginning = [UInt8](repeating: 0, count: magic.utf8.count)
        return read(file.number, &beginning, beginning.count) == beginning.count
            && beginning.elementsEqual(magic.utf8)
    }

    /// Writes all of it; the error's number where that cannot be done.
    private func writeAll(_ text: String) -> Int32? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    private static func unwritable(_ error: Int32) -> String {
        "cannot be written: \(String(cString: strerror(error)))"
    }
}

/// What a capture's file is called, where several devices have one each.
enum CaptureName {
    /// What stands for the device in it.
    static let placeholder = "{}"

    /// The names of the devices' files: `captures/{}.txt` gives `captures/4450.txt`, the end of an address.
    static func names(_ pattern: String, for ids: [DeviceID]) -> [String] {
        var taken: Set<String> = []
        return ids.map { id in
            var label = id.fileLabel
            var number = 1
            while !taken.insert(label).inserted {
                number += 1
                label = "\(id.fileLabel)-\(number)"
            }
            return pattern.replacing(placeholder, with: label)
        }
    }
}

extension DeviceID {
    /// The device in a file's name: the last two octets of its address, or its name without what a shell would take apart.
    fileprivate var fileLabel: String {
        let octets: [UInt8]? =
            switch kind {
            case .onAir(.address(let address)): address.octets
            case .onAir(.addressEnd(let octets)): octets
            case .onAir(.name), .simulated: nil
            }
        if let octets { return octets.suffix(2).hexadecimal.filter { $0 != " " } }
        return String(device.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" })
    }
}
