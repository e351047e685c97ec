extension String {
    /// The text with everything escaped that could move the cursor, change colours, break the line or turn the
    /// direction of writing: device names, file names and what a package says of itself come from strangers.
    var printable: String {
        guard unicodeScalars.contains(where: \.isTreacherous) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isTreacherous {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    fileprivate var isTreacherous: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        // Of the format characters, only the joiners are part of ordinary words and emoji.
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
