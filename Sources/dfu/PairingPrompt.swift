import DFUTransport
private import Dispatch
private import Glibc

/// Speaks with whoever sits at the terminal about a pairing.
struct PairingPrompt: Sendable {
    private let device: String
    private let console: Console

    /// The dialogue with whoever is there: nobody, unless stdin and stderr are terminals.
    static func dialogue(about device: String, _ console: Console) -> PairingDialogue {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            // Whoever has called the verb has said yes to the pairing, and cannot be asked more.
            return PairingDialogue(.noInputNoOutput) { question in question == .authorization ? .yes : .no }
        }
        let prompt = PairingPrompt(device: device, console: console)
        return PairingDialogue(.keyboardDisplay) { await prompt.answer($0) }
    }

    private func answer(_ question: PairingDialogue.Question) async -> PairingDialogue.Answer {
        switch question {
        case .authorization: return .yes
        case .display(let code):
            say("type \(code) at the device".printable)
            return .yes
        case .comparison(let number):
            say("does the device show \(number.sixDigits)? (yes or no)")
            while let line = await readLine() {
                if "yes".hasPrefix(line.lowercased()), !line.isEmpty { return .yes }
                if "no".hasPrefix(line.lowercased()), !line.isEmpty { return .no }
                say("yes or no?")
            }
            return .no
        case .passkey:
            say("which number does the device show? (nothing: stop)")
            while let line = await readLine(), !line.isEmpty {
                if line.utf8.count <= 6, line.utf8.allSatisfy(\.isDecimalDigit), let number = UInt32(line) {
                    return .number(number)
                }
                say("a number of six digits at most")
            }
            return .no
        case .pinCode:
            say("which PIN does the device want? (nothing: stop)")
            guard let line = await readLine(), !line.isEmpty else { return .no }
            return .text(line)
        }
    }

    private func say(_ text: String) {
        console.report("dfu: \(device): \(text)")
    }

    /// The next line of stdin; nil at its end, or when the task is cancelled.
    private func readLine() async -> String? {
        let isCancelled = Locked(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(returning: Self.readLine { isCancelled.withLock(\.self) })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private static func readLine(unless isCancelled: () -> Bool) -> String? {
        var line: [UInt8] = []
        while !isCancelled() {
            var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            // A terminal gives whole lines, so nothing is left to wait for behind the first byte.
            guard poll(&waiting, 1, 100) > 0 else { continue }
            var byte: UInt8 = 0
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            guard byte != UInt8(ascii: "\n") else { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
