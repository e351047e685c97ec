/// The options of a simulated device's ID: `option=value&…`, with values percent-decoded.
enum OptionQuery {
    /// Reads them into `values`.
    ///
    /// - Throws: What the whole ID is not.
    static func read<Values>(
        _ query: Substring, _ options: [Option<Values>], into values: inout Values
    ) throws(InvalidValue) {
        var given: Set<String> = []
        for pair in query.split(separator: "&", omittingEmptySubsequences: false) {
            try read(pair: pair, options, into: &values, &given)
        }
    }

    private static func read<Values>(
        pair: Substring, _ options: [Option<Values>], into values: inout Values, _ given: inout Set<String>
    ) throws(InvalidValue) {
        let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(sides[0])
        guard let option = options.first(where: { $0.description.name == name }) else {
            let names = options.map(\.description.name)
            throw .wrong("not a device that can be simulated; '\(name)' is none of \(names.joined(separator: ", "))")
        }
        guard sides.count == 2 else { throw .wrong("not complete: \(name) needs a value") }
        guard given.insert(name).inserted else { throw .wrong("contradictory: \(name) is given twice") }
        guard let value = sides[1].percentDecoded else {
            throw .wrong("not well written: \(name) has a % that does not stand for a byte of UTF-8 (%25 is a %)")
        }
        do {
            try option.assign(&values, value)
        } catch {
            throw .wrong("not a device that can be simulated; \(error.sentence(about: value, given: name))")
        }
    }
}

extension Substring {
    /// The text with `%41` read as `A`; nil where that is not possible.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(Substring(rest.prefix(2)))
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
