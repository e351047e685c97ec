import DFUKit

/// How a run ended for each of its devices, and so for all of them.
struct RunSummary: Sendable {
    /// How it ended for one device.
    struct Entry: Sendable {
        var device: JSONLine.Device
        var result: JSONLine.Result

        fileprivate var isFailed: Bool { result.status != .ok }
    }

    /// In the order of the command line.
    var entries: [Entry]
    /// The status that the user's signal asks for.
    var interruption: ExitStatus?

    private var failed: [Entry] { entries.filter(\.isFailed) }

    /// What the command ends with.
    var status: ExitStatus {
        if failed.isEmpty { return .ok }
        if let interruption { return interruption }
        return entries.count == 1 ? entries[0].result.status : .partial
    }

    /// The whole in a few words.
    var title: String { "\(entries.count - failed.count) of \(entries.count) devices updated" }

    /// What people read last: how to ask for the devices that failed, with what each did, and the whole. The words that
    /// take the most room come first, so that the rest is what stays on the screen.
    var lines: [String] {
        guard !failed.isEmpty else { return [title] }
        let names = failed.map(\.device.device.printable)
        let width = names.map(\.columns).max() ?? 0
        let rows = zip(names, failed).map { "  \($0.padded(to: width))  \($1.result.shortCause)".printable }
        let again = failed.map { "--device \($0.device.id.shellWord)" }.joined(separator: " ").printable
        return (failed.count < entries.count ? ["for the failed ones alone: \(again)"] : []) + ["not updated:"] + rows
            + [title]
    }
}

extension JSONLine.Result {
    /// The kind of failure, the word for its cause, and how the device is left where that is not as before.
    fileprivate var shortCause: String {
        let state: String? =
            switch deviceState.flatMap(UpdateError.DeviceState.init) {
            case .bootloader: "left in its bootloader"
            case .updated: "runs the new firmware"
            case .unknown: "old or new firmware"
            case .asBefore, nil: nil
            }
        let cause = reason == status.name ? nil : reason
        return status.name + (cause.map { ": \($0)" } ?? "") + (state.map { ", \($0)" } ?? "")
    }
}

extension String {
    /// The text as a POSIX shell reads it back as one word.
    fileprivate var shellWord: String {
        let isPlain = allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.,:/@%+=".contains($0)) }
        return isPlain ? self : "'\(replacing("'", with: #"'\''"#))'"
    }
}
