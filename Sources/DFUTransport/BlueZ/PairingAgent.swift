/// Answers BlueZ's questions about the pairing with one device (`org.bluez.Agent1`).
struct PairingAgent: Sendable {
    static let path = DBusObjectPath(checked: "/dfu/agent")

    let device: DBusObjectPath
    let dialogue: PairingDialogue
    let connection: DBusConnection

    /// Answers until there are no more calls, or the task is cancelled.
    func answer(_ calls: AsyncStream<DBusMessage>) async {
        await withDiscardingTaskGroup { group in
            for await call in calls {
                switch call.member {
                case "Cancel", "Release":
                    // What is asked now is not wanted any more, and the pairing is over.
                    group.cancelAll()
                    await reply(to: call, with: [])
                default: group.addTask { await answer(call) }
                }
            }
            group.cancelAll()
        }
    }

    private func answer(_ call: DBusMessage) async {
        // Of other devices nobody has asked anything.
        guard call.body.first == .objectPath(device), let question = PairingDialogue.Question(call) else {
            return await refuse(call)
        }
        if case .display = question {
            // The device waits for its own keys, not for an answer.
            _ = await dialogue.ask(question)
            return await reply(to: call, with: [])
        }
        switch (question, await dialogue.ask(question)) {
        case (.comparison, .yes), (.authorization, .yes): await reply(to: call, with: [])
        case (.passkey, .number(let number)): await reply(to: call, with: [.uint32(number)])
        case (.pinCode, .text(let text)): await reply(to: call, with: [.string(text)])
        default: await refuse(call)
        }
    }

    private func reply(to call: DBusMessage, with body: [DBusValue]) async {
        // It fails only where the connection is gone, and the pairing with it.
        try? await connection.answer(call, with: body)
    }

    private func refuse(_ call: DBusMessage) async {
        try? await connection.answer(
            call, with: DBusError(name: "org.bluez.Error.Rejected", message: "the user said no"))
    }
}

extension PairingDialogue.Question {
    /// What a call of the agent asks; nil where it is none of an agent's.
    fileprivate init?(_ call: DBusMessage) {
        switch (call.member, call.body.dropFirst().first) {
        case ("RequestConfirmation", .uint32(let number)): self = .comparison(number)
        case ("RequestPasskey", _): self = .passkey
        case ("RequestPinCode", _): self = .pinCode
        case ("DisplayPasskey", .uint32(let number)): self = .display(number.sixDigits)
        case ("DisplayPinCode", .string(let code)): self = .display(code)
        case ("RequestAuthorization", _), ("AuthorizeService", _): self = .authorization
        default: return nil
        }
    }
}

extension UInt32 {
    /// As people compare it: with zeros before it, up to six digits.
    package var sixDigits: String {
        let digits = String(self)
        return String(repeating: "0", count: digits.utf8.count < 6 ? 6 - digits.utf8.count : 0) + digits
    }
}
