import DFUProtocol

/// Why the command, or its work on one device, failed: one line for people, and the exit status.
struct Failure: Error, Equatable {
    var status: ExitStatus
    /// The device or file that it is about.
    var subject: String?
    /// The stage of the update in which it happened.
    var phase: Phase?
    /// A stable word for machines.
    var reason: String?
    /// What went wrong and what to do.
    var message: String

    init(
        _ status: ExitStatus, subject: String? = nil, phase: Phase? = nil, reason: String? = nil, _ message: String
    ) {
        self.status = status
        self.subject = subject
        self.phase = phase
        self.reason = reason
        self.message = message
    }

    /// The message for whoever knows that it is about `device`: with its subject where that is something else, a file.
    func message(about device: String?) -> String {
        guard let subject, subject != device else { return message }
        return "\(subject): \(message)"
    }

    /// The line on stderr.
    var line: String {
        (["dfu", subject, phase?.rawValue, message].compactMap(\.self)).joined(separator: ": ").printable
    }
}
