import DFUProtocol
import DFUTransport

/// What is to go wrong, as a file says it: a JSON list of objects, each one fault.
///
/// ```json
/// [
///   { "fault": "drop", "frame": 12 },
///   { "fault": "delay", "reply": 21, "op": "blockEnd", "milliseconds": 8000 },
///   { "fault": "status", "frame": 1, "op": "start", "status": "0x0B", "count": 3 }
/// ]
/// ```
/// Where a fault befalls packets, `frame` is the number of one from the host and `reply` of one from the band, from 1,
/// counted over all links; `op` (`battery`, `setTime`, `start`, `blockHeader`, `data`, `blockEnd`, `complete`, `abort`)
/// counts only those of that command; `count` is how many in a row, or `"forever"` (1 if not said).
///
/// | fault | further members | what happens |
/// | --- | --- | --- |
/// | `drop` | | the packet never arrives |
/// | `damage` | `byte` (from 0; the last) | that byte arrives with all bits flipped |
/// | `double` | `milliseconds` (0) | it arrives again, so much later |
/// | `delay` | `milliseconds` | it arrives so much later |
/// | `swap` | | it arrives behind the packet that follows it |
/// | `disconnect` | `milliseconds` (0) | it never arrives, and so much later the link is lost |
/// | `disconnect` | `byte` instead of a packet | the link is lost with that byte from the host |
/// | `disconnect` | `packetsPerEvent` instead of a packet | the link is lost when a connection event brings more |
/// | `silence` | `milliseconds` (for ever) | from it on nothing arrives on either side for so long |
/// | `reboot` | `keepsBlocks` (as the band is), `milliseconds` (2000) | the band reboots, off the air so long |
/// | `status` | `status`, a byte as `"0x0B"` or 11 | the band answers so, and does nothing; `frame` only |
/// | `truncate` | `length` | the band sees only so many bytes of each packet; no packet is named |
/// | `battery` | `tenths`, 0 to 255, or null | the band's battery; null: it does not know the question |
/// | `oldVersion` | | the band goes on with the old version |
public struct FaultScript: Sendable, Hashable {
    /// The faults, in the order of the file.
    public var faults: [Fault]

    /// These faults, or none.
    public init(_ faults: [Fault] = []) {
        self.faults = faults
    }

    /// Reads a script.
    public init(json bytes: [UInt8]) throws(FaultScriptError) {
        faults = try FaultMembers.entries(of: bytes, FaultReader.fault)
    }
}

/// Why a fault script cannot be used.
public struct FaultScriptError: Error, Sendable, Hashable {
    /// One sentence for people, which names the entry; without the name of the file.
    public var message: String
}
