extension String {
    /// The text without what would do something on a terminal rather than be seen there: control characters, line
    /// separators and changes of the writing direction become `�`. Names in packages are anybody's.
    package var singleLine: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isSeen ? $0 : "\u{FFFD}" }))
    }
}

extension Unicode.Scalar {
    fileprivate var isSeen: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        // LRE to RLO, and LRI to PDI (Unicode Standard Annex 9, 2.1 to 2.4).
        default: !(0x202A...0x202E ~= value || 0x2066...0x2069 ~= value)
        }
    }
}
