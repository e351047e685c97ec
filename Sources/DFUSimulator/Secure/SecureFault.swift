import DFUProtocol
package import DFUTransport

/// One thing that goes wrong between a host and a device that is updated over Secure DFU, or in the device.
public enum SecureFault: Sendable, Hashable {
    /// Packets and requests are taken and lost; answers are never sent.
    case drop(SecureFaultPlace)
    /// Answers are sent later.
    case delay(SecureFaultPlace, by: Duration)
    /// Answers are sent, and so much later once more.
    case double(SecureFaultPlace, after: Duration)
    /// Requests are not carried out, and answered with these bytes.
    case answer(SecureFaultPlace, Answer)
    /// Requests are carried out and answered with an error of the attribute protocol; nothing is notified.
    case error(SecureFaultPlace, code: UInt8)
    /// The link is lost `after` something that does not arrive.
    case disconnect(SecureFaultPlace, after: Duration)
    /// From here on nothing arrives on either side, for a time or, with nil, for ever.
    case silence(SecureFaultPlace, lasting: Duration?)
    /// The power is gone instead, and comes back when `offAir` has passed.
    case powerCycle(SecureFaultPlace, offAir: Duration)
    /// The checksum is told as that of nothing, always.
    case zeroChecksum
    /// No receipts are sent.
    case noReceipts
    /// So long after the creation of one of the first objects of data its packets are lost, whenever it is created.
    case slowErase(Duration, objects: Int)
    /// So long after a restart at another address it is still heard at the old one.
    case oldAdvertisement(Duration)

    /// What is answered in the place of the truth.
    public enum Answer: Sendable, Hashable {
        /// This result, with an extended error or without.
        case result(UInt8, extended: UInt8?)
        /// These bytes, whatever they are.
        case bytes([UInt8])
    }
}

/// What a fault befalls, by its number from 1; counted over all links.
public struct SecureFaultPlace: Sendable, Hashable {
    /// What is counted.
    public enum Side: String, Sendable, Hashable, CaseIterable {
        /// What comes without a response: packets of objects.
        case packet
        /// What comes with one: to the control point, or to an application.
        case request
        /// What the device notifies.
        case answer
        /// The bytes of packets; the one with this byte is meant.
        case byte
    }

    /// What a request is for, or an answer to.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        case create, setReceipts, checksum, execute, select, abort
        /// What comes after so many packets; there is no request for it.
        case receipt
        /// Into the bootloader.
        case enter
        case setName
    }

    /// What is counted.
    public var side: Side
    /// Only requests for this, or answers to it.
    public var operation: Operation?
    /// The numbers, among all of that side or those of the operation.
    public var numbers: Range<Int>

    /// Places by number.
    public init(_ side: Side, _ number: Int, of operation: Operation? = nil, count: Int = 1) {
        self.side = side
        self.operation = operation
        let (end, isTooMany) = number.addingReportingOverflow(count)
        numbers = number..<(isTooMany ? .max : end)
    }
}

extension SecureFaultPlace.Operation {
    /// What a request asks for, by its first byte and where it is written; nil where it is nothing known.
    package init?(request bytes: [UInt8], to characteristic: BluetoothUUID) {
        let isBootloaders = characteristic == SecureDFU.Attributes.controlPoint
        switch (bytes.first, isBootloaders) {
        case (0x01, true): self = .create
        case (0x02, true): self = .setReceipts
        case (0x03, true): self = .checksum
        case (0x04, true): self = .execute
        case (0x06, true): self = .select
        case (0x0C, true): self = .abort
        case (0x01, false): self = .enter
        case (0x02, false): self = .setName
        default: return nil
        }
    }
}
