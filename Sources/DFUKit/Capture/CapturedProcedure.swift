internal import DFUProtocol

/// A procedure that a capture can hold, and a replay can make again.
protocol CapturedProcedure: Procedure {
    /// The word for it, and what it was made with besides the facts at the head of the capture.
    var captureTitle: String { get }

    /// The words for a good end.
    static func captureWords(for outcome: Outcome) -> String
}

extension CapturedProcedure {
    /// The words for an end; those of a bad one say all that machines are told of it.
    static func captureWords(for result: Result<Outcome, ProcedureError>) -> String {
        switch result {
        case .success(let outcome): captureWords(for: outcome)
        case .failure(let error):
            (["failed", error.code.rawValue, error.reason] + [error.deviceCode.map { "code \($0)" }])
                .compactMap(\.self).joined(separator: " ")
        }
    }
}

/// The first word of a procedure's title.
enum CapturedProcedureName: String, CaseIterable {
    case battery, transfer, completion, disconnection
    case setTime = "set-time"
}

extension BlockAck.BatteryQuery: CapturedProcedure {
    var captureTitle: String { CapturedProcedureName.battery.rawValue }

    static func captureWords(for outcome: BlockAck.BatteryLevel) -> String { outcome.description }
}

extension BlockAck.Transfer: CapturedProcedure {
    var captureTitle: String { CapturedProcedureName.transfer.rawValue + learnt.captureWords }

    static func captureWords(for outcome: Outcome) -> String {
        switch outcome {
        case .accepted: "accepted"
        case .unanswered(linkLost: false): "unanswered"
        case .unanswered(linkLost: true): "unanswered, link lost"
        }
    }
}

extension BlockAck.Completion: CapturedProcedure {
    var captureTitle: String { CapturedProcedureName.completion.rawValue }

    static func captureWords(for outcome: Outcome) -> String {
        switch outcome {
        case .accepted: "accepted"
        }
    }
}

extension BlockAck.SetTime: CapturedProcedure {
    var captureTitle: String { "\(CapturedProcedureName.setTime.rawValue) \(time.rawValue.hexadecimal)" }

    static func captureWords(for outcome: Outcome) -> String {
        switch outcome {
        case .set: "set"
        case .leftOut: "left out"
        }
    }
}

extension Disconnection: CapturedProcedure {
    var captureTitle: String { "\(CapturedProcedureName.disconnection.rawValue) \(limit.captureMilliseconds) ms" }

    static func captureWords(for outcome: Bool) -> String { outcome ? "down" : "still up" }
}

// MARK: What a transfer was made with

extension BlockAck.Learnt {
    /// ` data 48 gap 5 worked 10 failed 2.5`: bytes and milliseconds; what is not known is left out.
    var captureWords: String {
        let numbers: [(String, String?)] = [
            ("data", dataLength.map { "\($0)" }),
            ("gap", pace?.gap.captureMilliseconds),
            ("worked", pace?.working?.captureMilliseconds),
            ("failed", pace?.failing?.captureMilliseconds),
        ]
        return numbers.compactMap { name, number in number.map { " \(name) \($0)" } }.joined()
    }

    /// Reads them; nil where they are not well written, or are nothing that a transfer finds out.
    init?(captureWords words: ArraySlice<Substring>) {
        self.init()
        guard words.count.isMultiple(of: 2) else { return nil }
        var gaps: [Substring: Duration] = [:]
        for place in stride(from: words.startIndex, to: words.endIndex, by: 2) {
            let (name, number) = (words[place], words[place + 1])
            switch name {
            case "data":
                guard let length = Int(number), (1...255).contains(length) else { return nil }
                dataLength = length
            case "gap", "worked", "failed":
                guard let gap = Duration(captureMilliseconds: number), gap <= .seconds(10) else { return nil }
                gaps[name] = gap
            default: return nil
            }
        }
        if let gap = gaps["gap"] {
            pace = BlockAck.Pace(gap: gap, working: gaps["worked"], failing: gaps["failed"])
        } else if !gaps.isEmpty {
            return nil
        }
    }
}

extension Duration {
    /// Milliseconds with as many decimals as there are, to the nanosecond: `2.5`.
    var captureMilliseconds: String {
        let (whole, rest) = Int(self / .nanoseconds(1)).quotientAndRemainder(dividingBy: 1_000_000)
        guard rest > 0 else { return "\(whole)" }
        var decimals = String(String(rest + 1_000_000).dropFirst())
        while decimals.last == "0" { decimals.removeLast() }
        return "\(whole).\(decimals)"
    }

    /// Reads them: up to nine digits, and six decimals.
    init?(captureMilliseconds text: Substring) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let decimals = parts.count == 2 ? parts[1] : "0"
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard (1...9).contains(parts[0].utf8.count), (1...6).contains(decimals.utf8.count),
            (parts[0] + decimals).utf8.allSatisfy(isDigit),
            let number = Int64(parts[0] + decimals + String(repeating: "0", count: 6 - decimals.utf8.count))
        else { return nil }
        self = .nanoseconds(number)
    }
}
