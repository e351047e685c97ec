import DFUTransport
import Testing

@Suite struct BlueZErrorTests {
    private static let bluez = "org.bluez.Error."
    private static let bus = "org.freedesktop.DBus.Error."

    @Test(
        arguments: [
            // The bus.
            (bus + "ServiceUnknown", "The name org.bluez was not provided by any .service files", .serviceMissing),
            (bus + "NameHasNoOwner", "Could not activate remote peer", .serviceMissing),
            (bus + "Spawn.ChildExited", "Process org.bluez exited with status 1", .serviceMissing),
            ("org.freedesktop.systemd1.NoSuchUnit", "Unit dbus-org.bluez.service not found.", .serviceMissing),
            (bus + "NoReply", "Message recipient disconnected from message bus without replying", .serviceSilent),
            (bus + "AccessDenied", "Rejected send message, 2 matched rules; type=\"method_call\"", .accessDenied),
            (bus + "UnknownObject", "Method \"Connect\" with signature \"\" doesn't exist", .objectGone),
            (
                bus + "UnknownMethod",
                "Method \"Connect\" with signature \"\" on interface \"org.bluez.Device1\" doesn't exist", .objectGone
            ),
            (bus + "Timeout", "", .timedOut),
            // The adapter and discovery.
            (bluez + "NotReady", "Resource Not Ready", .notReady),
            (bluez + "Failed", "Resource Not Ready", .notReady),
            (bluez + "InProgress", "Operation already in progress", .inProgress),
            (bluez + "Failed", "Operation already in progress", .inProgress),
            (bluez + "DoesNotExist", "Does Not Exist", .objectGone),
            // Connecting.
            (bluez + "AlreadyConnected", "Already Connected", .alreadyConnected),
            (bluez + "Failed", "Already Connected", .alreadyConnected),
            (bluez + "Failed", "le-connection-abort-by-local", .connectAborted("le-connection-abort-by-local")),
            (bluez + "Failed", "le-connection-abort-by-remote", .connectAborted("le-connection-abort-by-remote")),
            (bluez + "Failed", "Software caused connection abort", .connectAborted("Software caused connection abort")),
            (bluez + "Failed", "Connection timed out", .connectAborted("Connection timed out")),
            (bluez + "Failed", "Host is down", .connectAborted("Host is down")),
            (bluez + "ConnectionAttemptFailed", "Page Timeout", .connectAborted("Page Timeout")),
            (bluez + "Failed", "br-connection-canceled", .classicLink("br-connection-canceled")),
            (
                bluez + "BREDR.ProfileUnavailable", "br-connection-profile-unavailable",
                .classicLink("br-connection-profile-unavailable")
            ),
            (bluez + "AuthenticationFailed", "Authentication Failed", .authentication("Authentication Failed")),
            (bluez + "AuthenticationTimeout", "", .authentication("org.bluez.Error.AuthenticationTimeout")),
            // Characteristics.
            (bluez + "NotConnected", "Not Connected", .notConnected),
            (bluez + "Failed", "Not connected", .notConnected),
            (bluez + "Failed", "Failed to initiate write", .notConnected),
            (bluez + "NotPermitted", "Not paired", .notPaired),
            (bluez + "NotPermitted", "Write acquired", .held),
            (bluez + "NotPermitted", "Notify acquired", .held),
            (bluez + "NotPermitted", "Read not permitted", .attribute(0x02)),
            (bluez + "NotPermitted", "Write not permitted", .attribute(0x03)),
            (bluez + "NotPermitted", "something else", .other("something else")),
            (bluez + "NotAuthorized", "Not Authorized", .attribute(0x08)),
            (bluez + "InvalidOffset", "Invalid Offset", .attribute(0x07)),
            (bluez + "InvalidValueLength", "Invalid Length", .attribute(0x0D)),
            (bluez + "InvalidArguments", "Invalid Length", .attribute(0x0D)),
            (bluez + "InvalidArguments", "Invalid offset", .attribute(0x07)),
            (
                bluez + "InvalidArguments", "Invalid arguments in method call",
                .other("Invalid arguments in method call")
            ),
            (bluez + "NotSupported", "Operation is not supported", .notSupported),
            (bluez + "Failed", "Operation failed with ATT error: 0xfd", .attribute(0xFD)),
            (bluez + "Failed", "Operation failed with ATT error: 0x0e (Unlikely Error)", .attribute(0x0E)),
            (bluez + "Failed", "Operation failed with ATT error: 0x3", .attribute(0x03)),
            (bluez + "Failed", "Operation failed with ATT error: 0x", .other("Operation failed with ATT error: 0x")),
            (
                bluez + "Failed", "Operation failed with ATT error: 0x100",
                .other("Operation failed with ATT error: 0x100")
            ),
            // What nobody has told of yet.
            (bluez + "Failed", "", .other("org.bluez.Error.Failed")),
            ("com.example.Error", "No idea", .other("No idea")),
        ] as [(String, String, BlueZError)])
    func readsNamesAndTexts(_ name: String, _ text: String, _ expected: BlueZError) {
        #expect(BlueZError(DBusError(name: name, message: text)) == expected)
    }

    @Test(
        arguments: [
            (DBusError(.timeout, message: "x"), .timedOut),
            (DBusError(.cancelled, message: "x"), .cancelled),
            (
                DBusError(.disconnected, message: "the bus ended the connection"),
                .busGone("the bus ended the connection")
            ),
            (DBusError(.connectFailed, message: "no such file"), .busMissing("no such file")),
            (DBusError(.connectFailed, message: "Failed to connect to socket: Permission denied"), .accessDenied),
            (DBusError(.invalidMessage, message: "x"), .other("x")),
        ] as [(DBusError, BlueZError)])
    func readsWhatIsNoAnswer(_ error: DBusError, _ expected: BlueZError) {
        #expect(BlueZError(error) == expected)
    }

    @Test(
        "What went wrong decides the code, whatever was being done",
        arguments: [
            (.serviceMissing, .environment), (.serviceSilent, .environment), (.busGone("x"), .environment),
            (.busMissing("x"), .environment),
            (.accessDenied, .permission), (.notReady, .environment), (.held, .environment), (.cancelled, .cancelled),
        ] as [(BlueZError, TransportError.Code)])
    func hasOneCode(_ error: BlueZError, _ code: TransportError.Code) {
        for action in BlueZAction.allCases {
            #expect(TransportError(error, during: action).code == code, "\(action)")
        }
    }

    @Test(
        "What was being done decides the code",
        arguments: [
            (.notConnected, [.environment, .environment, .connectFailed, .disconnected, .disconnected, .disconnected]),
            (.objectGone, [.environment, .environment, .connectFailed, .disconnected, .disconnected, .disconnected]),
            (
                .connectAborted("x"),
                [.environment, .environment, .connectFailed, .disconnected, .disconnected, .disconnected]
            ),
            (
                .classicLink("x"),
                [.environment, .environment, .connectFailed, .disconnected, .disconnected, .disconnected]
            ),
            (.timedOut, [.environment, .environment, .connectFailed, .timeout, .timeout, .timeout]),
            (.inProgress, [.environment, .environment, .connectFailed, .environment, .environment, .environment]),
            (
                .attribute(0x80),
                [
                    .attributeError, .attributeError, .attributeError, .subscribeRefused, .attributeError,
                    .attributeError,
                ]
            ),
            (
                .notPaired,
                [
                    .attributeError, .attributeError, .attributeError, .subscribeRefused, .attributeError,
                    .attributeError,
                ]
            ),
            (
                .notSupported,
                [.environment, .environment, .connectFailed, .subscribeRefused, .attributeError, .attributeError]
            ),
            (
                .other("x"),
                [.environment, .environment, .connectFailed, .subscribeRefused, .attributeError, .attributeError]
            ),
        ] as [(BlueZError, [TransportError.Code])])
    func hasACodeForEachAction(_ error: BlueZError, _ codes: [TransportError.Code]) {
        #expect(BlueZAction.allCases.map { TransportError(error, during: $0).code } == codes)
    }

    @Test(
        arguments: [
            (
                .attribute(0xFD), .write,
                TransportError(.attributeError, attCode: 0xFD, message: "it answered with the ATT error FD")
            ),
            (
                .attribute(0x08), .subscribe,
                TransportError(
                    .subscribeRefused, attCode: 0x08,
                    message: "it does not let itself be subscribed to: it answered with the ATT error 08")
            ),
            (.notPaired, .write, TransportError(.attributeError, message: "it wants to be paired first (dfu pair)")),
            (
                .connectAborted("le-connection-abort-by-local"), .connect,
                TransportError(.connectFailed, message: "le-connection-abort-by-local")
            ),
            (
                .classicLink("br-connection-canceled"), .connect,
                TransportError(
                    .connectFailed,
                    message: "BlueZ tried the classic link (br-connection-canceled); remove the device "
                        + "(bluetoothctl remove), or set ControllerMode = le in /etc/bluetooth/main.conf")
            ),
            (
                .inProgress, .scan,
                TransportError(.environment, message: "another program is using the adapter for a scan; end it")
            ),
            (
                .held, .subscribe,
                TransportError(
                    .environment, message: "another program on this machine holds this characteristic; end it")
            ),
            (
                .serviceMissing, .look,
                TransportError(
                    .environment,
                    message:
                        "the Bluetooth service is not running; start it (systemctl start bluetooth) or install bluez")
            ),
            (
                .accessDenied, .look,
                TransportError(
                    .permission,
                    message: "this user may not talk to the Bluetooth service; join the group bluetooth, or look at "
                        + "D-Bus's policy for org.bluez (bluetooth.conf)")
            ),
            (
                .other("Failed to do it"), .read,
                TransportError(.attributeError, message: "reading failed (Failed to do it)")
            ),
        ] as [(BlueZError, BlueZAction, TransportError)])
    func saysWhatToDo(_ error: BlueZError, _ action: BlueZAction, _ expected: TransportError) {
        #expect(TransportError(error, during: action) == expected)
    }
}
