extension SecureDFU {
    /// Sends an application into its bootloader.
    ///
    /// The name is a wish: an application that refuses it, or does not know it, is sent without one. A link that is lost
    /// after the order was written counts as its success, because a device may reset before its answer is on the air.
    public struct Entry: Procedure {
        /// How an entry ends that was not refused.
        public enum Outcome: Sendable, Hashable {
            /// The device resets, or is about to. Its bootloader will advertise `name`; nil: its default name.
            case entering(name: String?)
            /// The link was lost when the name was set: connect again, and enter without one.
            case nameUnwelcome
        }

        /// How long the device may take.
        public struct Limits: Sendable, Hashable {
            /// For its answer.
            public var answer: Duration = .seconds(10)
            /// For the end of the link after its answer.
            public var reset: Duration = .seconds(5)
            /// Between a busy device's answer and the next try.
            public var busyPause: Duration = .milliseconds(500)

            /// The usual ones.
            public init() {}
        }

        /// What is under way.
        private enum Stage: Equatable {
            /// The name is set. Next: pausing, entering, over.
            case naming(String)
            /// The order is written. Next: pausing, leaving, over.
            case entering
            /// The device said that it enters; the link ends. Next: over.
            case leaving
        }

        private enum Activity: Equatable {
            /// Next: writing.
            case ready
            /// Handed out; its answer may come before the word that it was written. Next: awaiting.
            case writing(answer: Buttonless.Response?)
            /// The answer, or in `leaving` the end of the link, is waited for. Next: ready, pausing.
            case awaiting(WaitTimer)
            /// The device was busy. Next: ready.
            case pausing(WaitTimer)
        }

        private static let tries = 5

        private let limits: Limits
        private var stage: Stage
        private var activity = Activity.ready
        private var name: String?
        private var sends = 0
        private var isStopWanted = false
        /// Why the order's write was refused; the end of the link may still show that it was heard.
        private var writeFailure: WriteFailure?
        private var timers = 0
        private var result: Result<Outcome, ProcedureError>?
        private var log: [String] = []

        /// An entry over a link that is open.
        /// - Parameter settingName: What the bootloader is to advertise, 1 to 20 bytes of UTF-8; nil: nothing is set, for
        ///   a bonded device, for SDK 12, or for a second try.
        public init(settingName: String? = nil, limits: Limits = Limits()) {
            self.limits = limits
            stage = settingName.map(Stage.naming) ?? .entering
        }

        /// See `Procedure`.
        public var phase: Phase { .enterBootloader }

        /// See `Procedure`.
        public mutating func next() -> Step<Outcome> {
            if let result { return .finish(result) }
            switch activity {
            case .ready:
                activity = .writing(answer: nil)
                return .write(request.encoded, to: .buttonless)
            case .writing:
                return .write(request.encoded, to: .buttonless)
            case .awaiting(let timer), .pausing(let timer):
                return .wait(timer)
            }
        }

        private var request: Buttonless.Request {
            switch stage {
            case .naming(let name): .setName(name)
            case .entering, .leaving: .enter
            }
        }

        /// See `Procedure`.
        public mutating func receive(_ event: Event) {
            guard result == nil else { return }
            switch event {
            case .notification(let bytes, from: .buttonless): heard(bytes)
            case .notification(let bytes, from: .controlPoint), .notification(let bytes, from: .packet),
                .notification(let bytes, from: .command), .notification(let bytes, from: .reply):
                drop(bytes)
            case .written: written()
            case .writeFailed(let failure): writeFailed(failure)
            case .timeout: timeout()
            case .disconnected: disconnected()
            case .abort: aborted()
            }
        }

        /// See `Procedure`.
        public mutating func takeLog() -> [String] {
            defer { log.removeAll() }
            return log
        }
    }
}

// MARK: - What happens

extension SecureDFU.Entry {
    private mutating func heard(_ bytes: [UInt8]) {
        guard let answer = SecureDFU.Buttonless.Response(bytes), answer.opcode == request.opcode else {
            return drop(bytes)
        }
        switch (stage, activity) {
        case (.naming, .writing(answer: nil)), (.entering, .writing(answer: nil)):
            activity = .writing(answer: answer)
        case (.naming, .awaiting), (.entering, .awaiting):
            answered(answer.result)
        case (.naming, _), (.entering, _), (.leaving, _):
            drop(bytes)
        }
    }

    private mutating func drop(_ bytes: [UInt8]) {
        log.append("dropped \(bytes.isEmpty ? "an empty value" : bytes.hexadecimal): nobody waits for it")
    }

    private mutating func written() {
        guard case .writing(let answer) = activity else { preconditionFailure("no write was asked for") }
        sends += 1
        if let answer {
            answered(answer.result)
        } else {
            activity = .awaiting(timer(limits.answer))
        }
        if isStopWanted { aborted() }
    }

    private mutating func writeFailed(_ failure: WriteFailure) {
        guard case .writing(let answer) = activity else { preconditionFailure("no write was asked for") }
        sends += 1
        switch stage {
        case .naming:
            log.append("the name could not be written: \(failure.message)")
            enterWithoutName()
        case .entering:
            if let answer { answered(answer.result) } else { notWritten(failure) }
        case .leaving:
            preconditionFailure("nothing is written any more")
        }
        if isStopWanted { aborted() }
    }

    /// A device that resets at once may answer with any error, or not at all; then the link ends soon.
    private mutating func notWritten(_ failure: WriteFailure) {
        writeFailure = failure
        activity = .awaiting(timer(limits.reset))
    }

    private mutating func answered(_ code: SecureDFU.Buttonless.ResultCode) {
        switch (stage, code) {
        case (_, .busy) where sends < Self.tries:
            log.append("the application is busy")
            activity = .pausing(timer(limits.busyPause))
        case (.naming(let name), .success):
            self.name = name
            enter()
        case (.naming, _):
            log.append("the application does not take a name for its bootloader: \(code)")
            enterWithoutName()
        case (.entering, .success):
            stage = .leaving
            activity = .awaiting(timer(limits.reset))
        case (.entering, _), (.leaving, _):
            result = .failure(.entryRefused(code))
        }
    }

    private mutating func enterWithoutName() {
        name = nil
        enter()
    }

    private mutating func enter() {
        stage = .entering
        activity = .ready
        sends = 0
    }

    private mutating func timeout() {
        switch (stage, activity) {
        case (_, .pausing):
            activity = .ready
        case (.naming, .awaiting):
            log.append("the application did not answer the name")
            enterWithoutName()
        case (.entering, .awaiting):
            result = .failure(
                writeFailure.map { .entryNotWritten($0) }
                    ?? .noAnswer(to: "the order to enter its bootloader", sends: 1))
        case (.leaving, .awaiting):
            log.append("the link did not end by itself")
            result = .success(.entering(name: name))
        case (_, .ready), (_, .writing):
            preconditionFailure("no timer was asked for")
        }
    }

    private mutating func disconnected() {
        switch stage {
        case .naming:
            result = isHandedOut ? .success(.nameUnwelcome) : .failure(.linkLost(at: "the name of its bootloader"))
        case .entering:
            if case .writing(let answer?) = activity, answer.result != .success, answer.result != .busy {
                result = .failure(.entryRefused(answer.result))
            } else if isHandedOut {
                result = .success(.entering(name: name))
            } else {
                result = .failure(.linkLost(at: "the order to enter its bootloader"))
            }
        case .leaving:
            result = .success(.entering(name: name))
        }
    }

    /// Whether this stage's write was handed to the driver.
    private var isHandedOut: Bool { sends > 0 || activity != .ready }

    private mutating func aborted() {
        guard result == nil else { return }
        if case .writing = activity {
            isStopWanted = true
            return
        }
        let stays = ProcedureError.stopped("the device was not sent into its bootloader")
        let goes = ProcedureError.stopped(
            "the device goes into its bootloader, and back to its application after some minutes")
        switch (stage, activity) {
        case (.naming, _), (.entering, .ready), (.entering, .pausing): result = .failure(stays)
        case (.entering, .writing), (.entering, .awaiting), (.leaving, _): result = .failure(goes)
        }
    }

    private mutating func timer(_ duration: Duration) -> WaitTimer {
        timers += 1
        return WaitTimer(id: timers, duration: duration)
    }
}

extension ProcedureError {
    /// The application said no to the order to enter its bootloader.
    fileprivate static func entryRefused(_ code: SecureDFU.Buttonless.ResultCode) -> ProcedureError {
        let (reason, cure) =
            switch code {
            case .notBonded: (reason: "notBonded", cure: "pair it first")
            case .busy: (reason: "busy", cure: "try again later")
            default: (reason: "bootloaderRefused", cure: "restart the device and try again")
            }
        return ProcedureError(
            code == .busy ? .silent : .refused, reason: reason, deviceCode: Int(code.rawValue),
            message: "the device did not go into its bootloader: \(code); \(cure)")
    }

    /// The order could not be written, and the link did not end either.
    fileprivate static func entryNotWritten(_ failure: WriteFailure) -> ProcedureError {
        switch failure.attCode {
        // Insufficient authentication, and insufficient encryption.
        case 0x05?, 0x0F?:
            ProcedureError(
                .refused, reason: "notBonded", deviceCode: failure.attCode.map(Int.init),
                message: "the device goes into its bootloader for a paired host only; pair it first")
        case _?, nil:
            .writeFailed(failure, of: "the order to enter the bootloader")
        }
    }
}
