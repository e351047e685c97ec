/// How numbers are written for people.
enum Quantities {
    /// `512 B`, `12.3 kB`, `1.05 MB`: thousands, as the field counts kB/s.
    static func bytes(_ count: Double) -> String {
        if count < 999.5 { return "\(decimal(count, 0)) B" }
        if count < 999_950 { return "\(decimal(count / 1000, 1)) kB" }
        return "\(decimal(count / 1_000_000, 2)) MB"
    }

    /// `3.1 kB of 1.05 MB`.
    static func bytes(_ count: Int, of total: Int) -> String {
        "\(bytes(Double(count))) of \(bytes(Double(total)))"
    }

    /// `0:07`, `12:34` or `1:02:03`.
    static func clock(_ seconds: Double) -> String {
        let seconds = Int(seconds.rounded(.up))
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let tail = (seconds % 60 < 10 ? "0" : "") + "\(seconds % 60)"
        guard hours > 0 else { return "\(minutes):\(tail)" }
        return "\(hours):" + (minutes < 10 ? "0" : "") + "\(minutes):\(tail)"
    }

    /// A number with this many decimals.
    static func decimal(_ value: Double, _ decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((value * Double(scale)).rounded())
        guard decimals > 0 else { return "\(scaled)" }
        let fraction = "\(scaled % scale)"
        return "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
