import DFUKit

/// Where the command keeps what outlives it (XDG Base Directory Specification 0.8).
struct StateFolder {
    /// Where interrupted updates leave what the device cannot tell; nil where there is no place for it.
    var checkpoints: CheckpointStore?

    init(environment: [String: String]) {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let state = absolute("XDG_STATE_HOME") ?? absolute("HOME").map({ $0 + "/.local/state" }) else { return }
        checkpoints = CheckpointStore(folder: state + "/dfu")
    }
}
