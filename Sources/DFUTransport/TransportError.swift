/// Why a device could not be reached or used.
public struct TransportError: Error, Sendable, Equatable {
    /// The kind of trouble.
    public enum Code: String, Sendable, Hashable {
        /// The device was not heard within the limit.
        case notFound
        /// The device was heard, but connecting failed or took too long.
        case connectFailed
        /// The connection is gone.
        case disconnected
        /// The device was connected, but its services did not become known within the limit.
        case servicesUnresolved
        /// The keys kept from an earlier pairing do not fit the device any more.
        case bondMismatch
        /// The device did not answer within the limit.
        case timeout
        /// A service or characteristic that was asked for is not there.
        case missing
        /// The device refused to let its characteristic be subscribed to.
        case subscribeRefused
        /// The device answered a read or write with an ATT error.
        case attributeError
        /// The machine's Bluetooth is not fit: no service, no adapter, switched off, blocked, busy.
        case environment
        /// The machine does not let this user.
        case permission
        /// The task was cancelled.
        case cancelled
    }

    /// The kind of trouble.
    public var code: Code
    /// The ATT error code, where the device named one.
    public var attCode: UInt8?
    /// One sentence for people: what went wrong, and what to do where something can be done. No device name in it.
    public var message: String

    /// An error of this kind.
    public init(_ code: Code, attCode: UInt8? = nil, message: String) {
        self.code = code
        self.attCode = attCode
        self.message = message
    }
}
