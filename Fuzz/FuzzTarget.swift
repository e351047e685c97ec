import DFUKit
import DFUProtocol

@testable import DFUPackage

/// A reader that takes bytes from strangers.
///
/// None may crash, hang or eat memory, whatever it reads; and what it makes of the bytes has to hold together.
enum FuzzTarget: String, CaseIterable {
    case zip, manifest, initpacket, hex, mcuboot, filename, frame, capture

    func run(_ input: [UInt8]) {
        switch self {
        case .zip: readZip(input)
        case .manifest: readManifest(input)
        case .initpacket: readInitPacket(input)
        case .hex: readHex(input)
        case .mcuboot: readMCUboot(input)
        case .filename: readFileName(input)
        case .frame: readFrame(input)
        case .capture: replayCapture(input)
        }
    }

    private func readZip(_ input: [UInt8]) {
        let package = Package(reading: input, named: "input.zip")
        precondition(package.size == input.count)
        precondition(!package.parts.isEmpty || !package.problems.isEmpty, "nothing to send, and nothing wrong")
        for part in package.parts {
            _ = part.initPacket?.fields
        }
    }

    private func readManifest(_ input: [UInt8]) {
        do throws(PackageError) {
            let object = try JSONObject(parsing: input, named: "manifest.json")
            do throws(PackageError) { _ = try ConnectSDKManifest(object) } catch { check(error) }
            if let manifest = try object.object("manifest") { _ = try NordicManifest(manifest) }
        } catch {
            check(error)
        }
    }

    private func readInitPacket(_ input: [UInt8]) {
        do throws(PackageError) {
            let packet = try InitPacket(decoding: input)
            precondition(packet.bytes == input)
            precondition(
                packet.fields.allSatisfy {
                    0...input.count ~= $0.range.lowerBound && $0.range.upperBound <= input.count
                })
        } catch {
            check(error)
        }
        do throws(PackageError) { _ = try LegacyInitPacket(decoding: input) } catch { check(error) }
        do throws(PackageError) { _ = try SecureInitPacket(decoding: input) } catch { check(error) }
    }

    private func readHex(_ input: [UInt8]) {
        do throws(PackageError) {
            let image = try IntelHex(input).image
            precondition(
                !image.segments.isEmpty && image.segments.allSatisfy { !$0.bytes.isEmpty && $0.end <= 1 << 32 })
            precondition(Swift.zip(image.segments, image.segments.dropFirst()).allSatisfy { $0.end < Int($1.address) })
            let whole = try image.flattened()
            precondition(whole.address == image.segments.first?.address && whole.end == image.segments.last?.end)
            precondition(whole.bytes.count <= image.count + 0x1_0000)
        } catch {
            check(error)
        }
    }

    private func readMCUboot(_ input: [UInt8]) {
        let image = MCUbootImage(reading: input)
        image.problems.forEach(check)
        _ = (image.signatures, image.dependencies, image.securityCounter)
        guard image.problems.isEmpty else { return }
        guard let size = image.size, let signed = image.signedRange, let digest = image.digest else {
            preconditionFailure("a sound image without size, signed range or digest")
        }
        precondition(signed.upperBound < size && size + (image.trailing?.size ?? 0) == input.count)
        let isDigest = Checksum.digest(digest.kind, input[signed]) == digest.value
        precondition(digest.verdict == (isDigest ? .matches : .encrypted))
    }

    private func readFileName(_ input: [UInt8]) {
        let name = FileName(String(decoding: input, as: UTF8.self), crc32: 0xE47B_595B)
        if let problem = name.problem { check(problem) }
        do throws(PackageError) { _ = try name.versionBytes() } catch { check(error) }
        guard let version = name.version, !version.numbers.isEmpty else { return }
        let again = FirmwareVersion(version.text)
        precondition(again == version, "\(version.text) is read as \(again?.text ?? "nothing")")
    }

    /// The first byte chooses the profile and the sender, the others are the frame.
    private func readFrame(_ input: [UInt8]) {
        guard let choice = input.first else { return }
        var parameters = BlockAck.Parameters()
        parameters.checksum = BlockAck.Parameters.Checksum.allCases[Int(choice) % 3]
        parameters.byteOrder = choice & 0x40 == 0 ? .big : .little
        let bytes = Array(input.dropFirst())
        let sender = choice & 0x80 == 0 ? BlockAck.Frame.Sender.device : .host
        guard let frame = try? BlockAck.Frame(decoding: bytes, from: sender, by: parameters) else { return }
        precondition(frame.encoded(from: sender, by: parameters) == bytes)
        guard let reply = BlockAck.Reply(frame, by: parameters) else { return }
        let again = try? BlockAck.Frame(decoding: reply.encoded(by: parameters), from: .device, by: parameters)
        precondition(again.flatMap { BlockAck.Reply($0, by: parameters) } == reply, "\(reply) does not come back")
    }

    private func replayCapture(_ input: [UInt8]) {
        do throws(CaptureError) {
            let replay = try Capture(reading: input).replay()
            let lines = input.count { $0 == UInt8(ascii: "\n") }
            precondition(replay.difference.map { (1...lines).contains($0.line) } != false)
            precondition(replay.difference == nil || replay.next == nil)
        } catch {
            precondition(
                !error.reason.isEmpty && !error.message.isEmpty && !error.message.contains("\n"), error.message)
        }
    }

    private func check(_ problem: PackageError) {
        precondition(
            !problem.reason.isEmpty && !problem.message.isEmpty && !problem.message.contains("\n"), problem.message)
    }
}
