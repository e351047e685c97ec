package import DFUTransport

/// A simulated device that decides itself what becomes of each request; the others do what they are asked, at once.
package protocol AttributeDevice: SimulatedDevice {
    /// How it answers a request of a host: instead of `read`, and before `written`, which is told where it succeeds.
    mutating func answer(_ request: AttributeRequest) -> AttributeAnswer
}

/// What a host asks of a device's attributes, and waits for.
package enum AttributeRequest: Sendable, Hashable {
    case read(BluetoothUUID)
    /// A write with response.
    case write([UInt8], to: BluetoothUUID)
    /// The host wants to hear of a characteristic.
    case subscribe(BluetoothUUID)
}

/// What a device does at a request.
package struct AttributeAnswer: Sendable, Equatable {
    /// What the host is answered.
    package enum Outcome: Sendable, Hashable {
        /// It is done; the value, where one was asked for.
        case success([UInt8])
        /// An error of the attribute protocol.
        case error(AttributeErrorCode)
        /// Nothing, ever.
        case silence
    }

    /// What it does before it answers: what is notified without a delay is heard before the answer.
    package var before: [DeviceAction]
    /// What the host is answered.
    package var outcome: Outcome

    /// An answer.
    package init(_ outcome: Outcome = .success([]), after before: [DeviceAction] = []) {
        self.before = before
        self.outcome = outcome
    }
}

extension SimulatedDevice {
    /// How it answers, whether it decides that itself or not.
    mutating func answer(to request: AttributeRequest) -> AttributeAnswer {
        if var device = self as? any AttributeDevice {
            let answer = device.answer(request)
            // The same type: it was made from this one.
            if let changed = device as? Self { self = changed }
            return answer
        }
        guard case .read(let characteristic) = request else { return AttributeAnswer() }
        return AttributeAnswer(read(characteristic).map { .success($0) } ?? .error(.readNotPermitted))
    }
}
