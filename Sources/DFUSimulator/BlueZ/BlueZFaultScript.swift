import DFUTransport

/// What is to go wrong with a simulated BlueZ, as a file says it: a JSON list of objects, each one fault.
///
/// ```json
/// [
///   { "fault": "fail", "method": "StartDiscovery", "error": "org.bluez.Error.InProgress", "count": 2 },
///   { "fault": "failConnects", "message": "le-connection-abort-by-local", "shown": 100 },
///   { "fault": "unplug", "adapter": "hci0", "bytes": 3000 },
///   { "fault": "plugIn", "adapter": "hci0", "bytes": 3000, "milliseconds": 2000 }
/// ]
/// ```
/// A fault is there from the start. With `bytes` it comes when a device has got so many over all its links: the one with
/// the address `device`, or the first. With `milliseconds` it comes so much later than that.
///
/// | fault | further members | what happens |
/// | --- | --- | --- |
/// | `fail` | `method`, `error`, `message` (""), `count` | the next calls of the method are answered with this error |
/// | `ignore` | `method`, `count` | the next calls of the method are never answered |
/// | `failConnects` | `message`, `shown`, `count` | the next connections fail with this text; the device is shown as connected for `shown` milliseconds, or not at all |
/// | `unplug`, `plugIn` | `adapter` | the adapter is gone, or there again |
/// | `powerOff`, `powerOn` | `adapter` | the adapter is off, or on |
/// | `block`, `unblock` | `adapter` | rfkill keeps the adapter off, or lets it be switched on |
/// | `restart` | `lasting` (500) | the daemon is off the bus for so many milliseconds, and has forgotten what is not paired |
/// | `closeBus` | | the bus ends, and with it all connections to it |
///
/// `count` is how many in a row, or `"forever"` (1 if not said).
package struct BlueZFaultScript: Sendable, Hashable {
    /// The faults, in the order of the file.
    package var faults: [BlueZFault]

    /// These faults, or none.
    package init(_ faults: [BlueZFault] = []) {
        self.faults = faults
    }

    /// Reads a script.
    package init(json bytes: [UInt8]) throws(FaultScriptError) {
        faults = try FaultMembers.entries(of: bytes, Self.fault)
    }

    private enum Kind: String, CaseIterable {
        case fail, ignore, failConnects, unplug, plugIn, powerOff, powerOn, block, unblock, restart, closeBus
    }

    private static func fault(_ members: inout FaultMembers, _ name: String) throws(FaultScriptError) -> BlueZFault {
        let kind = try kind(try FaultMembers.kind(name), &members)
        let bytes = try members.whole("bytes", 1...(.max))
        var device: String?
        if members.has("device") {
            let text = try members.text("device")
            guard let address = BluetoothAddress(text) else {
                throw FaultScriptError(message: "\"device\" wants an address, as \"C0:FF:EE:00:00:01\"")
            }
            guard bytes != nil else { throw FaultScriptError(message: "\"device\" goes with \"bytes\"") }
            device = address.description
        }
        return BlueZFault(kind, atByte: bytes, of: device, after: try members.time() ?? .zero)
    }

    private static func kind(_ kind: Kind, _ members: inout FaultMembers) throws(FaultScriptError) -> BlueZFault.Kind {
        switch kind {
        case .fail:
            let method = try members.text("method")
            let error = try members.text("error")
            guard isErrorName(error) else {
                throw FaultScriptError(message: "\"error\" wants a name, as \"org.bluez.Error.Failed\"")
            }
            let message = members.has("message") ? try members.text("message") : ""
            return .fail(method: method, DBusError(name: error, message: message), times: try members.count())
        case .ignore: return .fail(method: try members.text("method"), nil, times: try members.count())
        case .failConnects:
            let shown = try members.whole("shown", 0...86_400_000).map { Duration.milliseconds($0) }
            return .failConnects(try members.text("message"), shown: shown, times: try members.count())
        case .unplug: return .unplug(adapter: try adapter(&members))
        case .plugIn: return .plugIn(adapter: try adapter(&members))
        case .powerOff: return .power(false, adapter: try adapter(&members))
        case .powerOn: return .power(true, adapter: try adapter(&members))
        case .block: return .block(true, adapter: try adapter(&members))
        case .unblock: return .block(false, adapter: try adapter(&members))
        case .restart: return .restart(after: .milliseconds(try members.whole("lasting", 0...86_400_000) ?? 500))
        case .closeBus: return .closeBus
        }
    }

    private static func adapter(_ members: inout FaultMembers) throws(FaultScriptError) -> String {
        let name = try members.text("adapter")
        guard name.hasPrefix("hci"), let number = UInt16(name.dropFirst(3)), name == "hci\(number)" else {
            throw FaultScriptError(message: "\"adapter\" wants a name, as \"hci0\"")
        }
        return name
    }

    /// Whether a bus carries an error of this name (D-Bus specification, "Valid Names").
    private static func isErrorName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count > 1 && name.utf8.count <= 255
            && parts.allSatisfy { part in
                guard let first = part.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
                    return false
                }
                return part.allSatisfy { byte in
                    let character = Character(UnicodeScalar(byte))
                    return character.isASCII && (character.isLetter || character.isNumber || character == "_")
                }
            }
    }
}
