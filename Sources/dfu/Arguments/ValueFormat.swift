/// How the text of an argument becomes a value.
struct ValueFormat<Value: Sendable>: Sendable {
    /// What stands for the value in the help.
    var placeholder: String
    /// What a shell may offer for it.
    var completion = Completion.nothing
    /// Reads the text.
    var read: @Sendable (String) throws(InvalidValue) -> Value
}

/// Why a text is not a value of the wanted kind.
enum InvalidValue: Error, Equatable {
    /// What it is not, to be put behind "is": `not a number from 1 to 9`.
    case wrong(String)
    /// It will be a value once what it asks for is built: something that needs a name where the text is none.
    case notYet(String? = nil)

    /// A sentence about `text`, which was given as `name`.
    func sentence(about text: String, given name: String) -> String {
        switch self {
        case .wrong(let problem): "\(name): '\(text)' is \(problem)"
        case .notYet(nil): "\(name) \(text) is not in this version yet"
        case .notYet(let what?): "\(name) \(text): \(what) is not in this version yet"
        }
    }
}

/// What a shell may offer for a value.
enum Completion: Sendable, Equatable {
    case nothing
    case file
    case words([String])
}

/// A value that is one of a few words.
protocol Choice: CaseIterable, RawRepresentable<String>, Sendable {
    /// Whether this version can do it.
    var isAvailable: Bool { get }
    /// Further spellings.
    static var aliases: [String: Self] { get }
}

extension Choice {
    var isAvailable: Bool { true }
    static var aliases: [String: Self] { [:] }
}

extension ValueFormat where Value: Choice {
    /// One of the words of `Value`.
    static func choice(_ placeholder: String) -> Self {
        let words = Value.allCases.map(\.rawValue)
        let available = Value.allCases.filter(\.isAvailable).map(\.rawValue)
        return ValueFormat(placeholder: placeholder, completion: .words(available)) { text throws(InvalidValue) in
            guard let value = Value(rawValue: text) ?? Value.aliases[text] else {
                var problem = "not one of \(words.joined(separator: ", "))"
                if let nearest = Spelling.nearest(to: text, among: words) {
                    problem += "; did you mean \(nearest)?"
                }
                throw .wrong(problem)
            }
            guard value.isAvailable else { throw .notYet() }
            return value
        }
    }
}

extension ValueFormat<String> {
    /// Any text but none at all.
    static func text(_ placeholder: String) -> Self {
        ValueFormat(placeholder: placeholder) { text throws(InvalidValue) in
            guard !text.isEmpty else { throw .wrong("empty") }
            return text
        }
    }

    /// The path of a file.
    static func file(_ placeholder: String = "file") -> Self {
        var format = text(placeholder)
        format.completion = .file
        return format
    }
}

extension ValueFormat<Int> {
    /// A whole number in decimal digits.
    static func number(_ range: ClosedRange<Int>, placeholder: String = "n") -> Self {
        ValueFormat(placeholder: placeholder) { text throws(InvalidValue) in
            guard text.utf8.allSatisfy(\.isDecimalDigit), let number = Int(text), range.contains(number) else {
                throw .wrong("not a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }
}

extension ValueFormat<UInt32> {
    /// Exactly eight hex digits, with or without `0x`.
    static var hex32: Self {
        ValueFormat(placeholder: "hex") { text throws(InvalidValue) in
            let digits = text.lowercased().hasPrefix("0x") ? text.dropFirst(2) : text[...]
            guard digits.utf8.count == 8, digits.allSatisfy(\.isHexDigit), let number = UInt32(digits, radix: 16) else {
                throw .wrong("not a CRC-32 of eight hex digits")
            }
            return number
        }
    }
}

extension ValueFormat<Duration> {
    /// A number of seconds, with up to three decimals.
    static func seconds(_ range: ClosedRange<Int>) -> Self {
        ValueFormat(placeholder: "seconds") { text throws(InvalidValue) in
            guard let milliseconds = thousandths(text), range.scaled.contains(milliseconds) else {
                throw .wrong("not a number of seconds from \(range.lowerBound) to \(range.upperBound)")
            }
            return .milliseconds(milliseconds)
        }
    }

    /// A number of milliseconds, with up to three decimals.
    static func milliseconds(_ range: ClosedRange<Int>) -> Self {
        ValueFormat(placeholder: "ms") { text throws(InvalidValue) in
            guard let microseconds = thousandths(text), range.scaled.contains(microseconds) else {
                throw .wrong("not a number of milliseconds from \(range.lowerBound) to \(range.upperBound)")
            }
            return .microseconds(microseconds)
        }
    }
}

/// Reads `12` or `12.345` as thousandths; nil for anything else.
private func thousandths(_ text: String) -> Int? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let decimals = parts.count == 2 ? parts[1] : "0"
    guard (1...3).contains(decimals.utf8.count), !parts[0].isEmpty,
        (parts[0] + decimals).utf8.allSatisfy(\.isDecimalDigit)
    else { return nil }
    return Int(parts[0] + decimals + String(repeating: "0", count: 3 - decimals.utf8.count))
}

extension ClosedRange<Int> {
    fileprivate var scaled: Self { lowerBound * 1000...upperBound * 1000 }
}

extension UInt8 {
    /// Whether it is an ASCII digit.
    var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
