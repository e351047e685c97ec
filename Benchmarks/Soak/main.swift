// Whether many updates in one process leave something behind: swift run -c release soak [UPDATES [ROUNDS]]
import DFUKit
import DFUSimulator
import Glibc
import TestSupport

/// What a process holds.
struct Holdings {
    var descriptors: Int
    /// Resident memory, in KiB.
    var memory: Int

    /// The least of each.
    init(least held: some Sequence<Holdings>) {
        descriptors = held.map(\.descriptors).min() ?? 0
        memory = held.map(\.memory).min() ?? 0
    }

    private init(descriptors: Int, memory: Int) {
        self.descriptors = descriptors
        self.memory = memory
    }

    static var now: Holdings {
        var descriptors = 0
        if let folder = opendir("/proc/self/fd") {
            // Without ".", ".." and the folder itself.
            while readdir(folder) != nil { descriptors += 1 }
            descriptors -= 3
            closedir(folder)
        }
        var pages = 0
        if let file = fopen("/proc/self/statm", "r") {
            var line = [CChar](repeating: 0, count: 256)
            fgets(&line, Int32(line.count), file)
            fclose(file)
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return Holdings(descriptors: descriptors, memory: pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024)
    }
}

/// Repeats something, and compares the least that the process held in the second fifth of it and in the last: what has
/// just been let go of may take a moment to go.
func soak(_ name: String, _ count: Int, _ body: (Int) async throws -> Void) async throws -> Bool {
    var held: [Holdings] = []
    for round in 1...count {
        try await body(round)
        held.append(.now)
    }
    let fifth = max(count / 5, 1)
    let early = Holdings(least: held.dropFirst(fifth).prefix(fifth))
    let end = Holdings(least: held.suffix(fifth))
    let growth = Double(end.memory - early.memory) / Double(early.memory)
    let isKept = abs(end.descriptors - early.descriptors) <= 2 && abs(growth) <= 0.05
    let cells = [
        name, "\(count)", "\(early.descriptors)", "\(end.descriptors)", "\(early.memory) KiB", "\(end.memory) KiB",
        "\((growth * 1000).rounded() / 10) %",
    ]
    print("| " + cells.joined(separator: " | ") + " |")
    return isKept
}

/// An update of a band over a transport of its own.
func update(_ number: Int, on stage: BlueZStage) async throws {
    var options = UpdateOptions()
    options.gap = .fixed(.zero)
    let image = Firmware.bytes(512)
    let name = "band_v1.\(number >> 8).\(number & 0xFF)_\(Checksum.crc32(image).hexadecimal).bin"
    let report = try await Updater(transport: try await stage.transport(), options: options)
        .update(Band().address, with: Package(reading: image, named: name))
    guard case .running = report.verdict else { fatalError("update \(number): \(report.verdict)") }
}

/// A scan, and a connection that fails.
func failToConnect(over transport: BlueZTransport, on stage: BlueZStage) async throws {
    await stage.blueZ.failConnects(with: "le-connection-abort-by-local")
    let heard = try await transport.scan(for: .seconds(30)) { $0.contains(where: \.isHeard) }
    do {
        _ = try await transport.connect(to: Band().address, timeout: .seconds(30))
        fatalError("connected")
    } catch {
        guard error.code == .connectFailed, !heard.isEmpty else { throw error }
    }
}

let counts = CommandLine.arguments.dropFirst().compactMap { Int($0) }
var settings = Band.Settings()
settings.rebootDelay = .milliseconds(5)
settings.rebootTime = .milliseconds(5)
print("| what | times | descriptors early | at the end | memory early | at the end | growth |")
print("| --- | --: | --: | --: | --: | --: | --: |")
let isKept = try await BlueZStage.run(devices: [AdvertisedDevice(Band(settings))]) { stage in
    let transport = try await stage.transport()
    let updates = try await soak("updates", counts.first ?? 300) { try await update($0, on: stage) }
    let rounds = try await soak("scans and failed connects", counts.dropFirst().first ?? 600) { _ in
        try await failToConnect(over: transport, on: stage)
    }
    return updates && rounds
}
exit(isKept ? 0 : 1)
