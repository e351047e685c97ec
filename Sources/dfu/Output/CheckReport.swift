import DFUKit
import DFUProtocol

/// What `dfu check` tells: its JSON is this value, and its text is made from nothing else.
struct CheckReport: Encodable {
    /// One thing that decides on an update.
    struct Point: Encodable {
        var subject: String
        var verdict: String
        var message: String
        var reason: String?

        var isObstacle: Bool { verdict == UpdateForecast.Verdict.fails.rawValue }
    }

    /// The version of this form; it grows without a new number.
    var schema = 1
    /// Whether nothing stands in the way, as far as can be known.
    var ok: Bool
    /// What an update would end with, as far as can be known.
    var status: Int32
    var name: String
    var reason: String?
    var device: String
    var id: String
    var simulated: Bool
    /// The package's file.
    var package: String
    var `protocol`: String?
    var version: String?
    var battery: Int?
    var points: [Point]

    init(_ forecast: UpdateForecast, of package: String, by device: ConnectedDevice) {
        let status = forecast.obstacle.flatMap(\.code).map { ExitStatus($0) } ?? .ok
        ok = status == .ok
        self.status = status.rawValue
        name = status.name
        reason = forecast.obstacle?.reason
        self.device = device.device
        id = device.id
        simulated = device.device.hasPrefix("sim:")
        self.package = package
        `protocol` = forecast.protocolName
        version = forecast.version
        battery = forecast.battery
        points = forecast.points.map { point in
            Point(
                subject: point.subject.rawValue, verdict: point.verdict.rawValue, message: point.message,
                reason: point.reason)
        }
    }

    /// What the command ends with.
    var exitStatus: ExitStatus { ExitStatus(rawValue: status) ?? .internal }

    /// Why an update would fail, where that is known.
    var failure: Failure? {
        points.first(where: \.isObstacle).map { obstacle in
            Failure(exitStatus, subject: device, phase: .check, reason: obstacle.reason, obstacle.message)
        }
    }

    /// The text for people, in lines of so many columns.
    func text(width: Int) -> String {
        var page = LabelledText(width: width)
        page.heading("\(package) on \(device)")
        for point in points {
            page.row(Self.labels[point.subject] ?? point.subject, (point.isObstacle ? "NO: " : "") + point.message)
        }
        let obstacles = points.count(where: \.isObstacle)
        page.heading(
            obstacles == 0
                ? "Nothing stands in the way, as far as can be known."
                : "An update would fail: \(obstacles) point\(obstacles == 1 ? " stands" : "s stand") in the way.")
        return page.text
    }

    private static let labels = [
        "protocol": "Protocol", "mode": "Mode", "version": "Version", "battery": "Battery", "package": "Package",
        "part": "To be sent", "signature": "Signature", "hardware": "Hardware", "softdevice": "SoftDevice",
        "firmwareVersion": "Firmware", "objectSize": "Takes", "interrupted": "Interrupted",
    ]
}
