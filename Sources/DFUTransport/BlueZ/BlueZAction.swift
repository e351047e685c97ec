/// What was being done with BlueZ when it answered with an error.
package enum BlueZAction: Sendable, Hashable, CaseIterable {
    /// Looking what there is.
    case look
    /// Scanning.
    case scan
    /// Connecting, and resolving the services.
    case connect
    /// Subscribing to a characteristic.
    case subscribe
    /// Writing to a characteristic.
    case write
    /// Reading a characteristic.
    case read

    /// Whether there has to be a connection for it.
    fileprivate var needsConnection: Bool {
        switch self {
        case .look, .scan, .connect: false
        case .subscribe, .write, .read: true
        }
    }
}

extension TransportError {
    /// What an error of BlueZ's is to whoever wanted something done.
    package init(_ error: BlueZError, during action: BlueZAction) {
        switch error {
        case .serviceMissing:
            self.init(
                .environment,
                message: "the Bluetooth service is not running; start it (systemctl start bluetooth) or install bluez")
        case .serviceSilent:
            self.init(
                .environment,
                message: "the Bluetooth service stopped answering; look at its log (journalctl -u bluetooth)"
            )
        case .busMissing(let text):
            self.init(.environment, message: "there is \(text); start the system's message bus (dbus)")
        case .busGone(let text): self.init(.environment, message: "the system's message bus is gone (\(text))")
        case .accessDenied:
            self.init(
                .permission,
                message: "this user may not talk to the Bluetooth service; join the group bluetooth, or look at "
                    + "D-Bus's policy for org.bluez (bluetooth.conf)")
        case .notReady:
            self.init(.environment, message: "the Bluetooth adapter is not ready; switch it on (bluetoothctl power on)")
        case .held:
            self.init(.environment, message: "another program on this machine holds this characteristic; end it")
        case .cancelled: self.init(.cancelled, message: "it was stopped")
        case .notPaired: self = Self.refusal(nil, "it wants to be paired first (dfu pair)", during: action)
        case .authentication(let text):
            self = Self.refusal(
                nil, "the pairing failed, or the keys kept from it no longer fit (\(text)); remove it and pair again",
                during: action)
        case .attribute(let code):
            let digits = String(code, radix: 16, uppercase: true)
            let name = code < 0x10 ? "0" + digits : digits
            self = Self.refusal(code, "it answered with the ATT error \(name)", during: action)
        case .objectGone: self = Self.lost(action, "BlueZ has forgotten it: it was not heard for a while")
        case .notConnected: self = Self.lost(action, "not connected")
        case .connectAborted(let text): self = Self.lost(action, text)
        case .classicLink(let text):
            let cure = "remove the device (bluetoothctl remove), or set ControllerMode = le in /etc/bluetooth/main.conf"
            self = Self.lost(action, "BlueZ tried the classic link (\(text)); \(cure)")
        case .timedOut where action.needsConnection: self.init(.timeout, message: "it did not answer in time")
        case .timedOut: self = Self.failure(action, "no answer in time")
        case .inProgress where action == .scan:
            self.init(.environment, message: "another program is using the adapter for a scan; end it")
        case .inProgress where action.needsConnection:
            self.init(.environment, message: "another program on this machine is using this characteristic; end it")
        case .inProgress: self = Self.failure(action, "another attempt is going on")
        case .alreadyConnected: self = Self.failure(action, "it is connected already")
        case .notSupported: self = Self.failure(action, "BlueZ does not support it")
        case .other(let text): self = Self.failure(action, text)
        }
    }

    /// The device's own no: an ATT error, or what stands for one.
    private static func refusal(_ code: UInt8?, _ text: String, during action: BlueZAction) -> TransportError {
        switch action {
        case .subscribe:
            TransportError(
                .subscribeRefused, attCode: code, message: "it does not let itself be subscribed to: \(text)")
        case .look, .scan, .connect, .write, .read: TransportError(.attributeError, attCode: code, message: text)
        }
    }

    /// The end of a connection, or that there never was one.
    private static func lost(_ action: BlueZAction, _ text: String) -> TransportError {
        guard action.needsConnection else { return failure(action, text) }
        return TransportError(.disconnected, message: "the connection to the device is lost")
    }

    /// What says nothing more than that it failed.
    private static func failure(_ action: BlueZAction, _ text: String) -> TransportError {
        switch action {
        case .look: TransportError(.environment, message: "the Bluetooth service could not be asked (\(text))")
        case .scan: TransportError(.environment, message: "the adapter cannot scan (\(text))")
        case .connect: TransportError(.connectFailed, message: text)
        case .subscribe:
            TransportError(.subscribeRefused, message: "it does not let itself be subscribed to: \(text)")
        case .write: TransportError(.attributeError, message: "writing failed (\(text))")
        case .read: TransportError(.attributeError, message: "reading failed (\(text))")
        }
    }
}
