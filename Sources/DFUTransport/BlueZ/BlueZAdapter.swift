/// A Bluetooth controller as BlueZ shows it (`org.bluez.Adapter1`).
package struct BlueZAdapter: Sendable, Equatable {
    /// Its object.
    package var path: DBusObjectPath
    /// Its own address.
    package var address: String
    /// Whether it is switched on.
    package var isPowered: Bool
    /// Whether a switch of the machine keeps it off. BlueZ tells since 5.66, and at first only where it is asked to show
    /// what is experimental.
    package var isBlocked: Bool
    /// Whether somebody is scanning with it.
    package var isDiscovering: Bool
    /// What it can be, such as `central`, which is there where it speaks low energy; nil before BlueZ 5.53.
    package var roles: [String]?
    /// What BlueZ says that this machine is, in the form of the kernel's `modalias`; unless its configuration says another,
    /// BlueZ itself, with its version.
    package var modalias: String?

    /// What Linux calls it, such as `hci0`.
    package var name: String { path.lastComponent }
}

extension BlueZObjectTree {
    /// The adapters, in the order of their numbers.
    package var adapters: [BlueZAdapter] {
        paths(with: BlueZInterface.adapter).compactMap(adapter)
            .sorted { ($0.name.utf8.count, $0.name) < ($1.name.utf8.count, $1.name) }
    }

    /// The adapter to work with: the one with this name, or the first that is on. None is switched on for it.
    ///
    /// - Parameter isBlocked: Says of a name whether a switch of the machine keeps that adapter off, for a BlueZ that does
    ///   not tell.
    /// - Throws: `environment` where there is none, or it is off.
    package func usableAdapter(
        named name: String? = nil, isBlocked: (String) -> Bool = { _ in false }
    ) throws(TransportError) -> BlueZAdapter {
        let adapters = adapters
        guard !adapters.isEmpty else {
            throw TransportError(.environment, message: "there is no Bluetooth adapter; plug one in")
        }
        var candidates = adapters
        if let name {
            candidates = adapters.filter { $0.name == name }
            guard !candidates.isEmpty else {
                let names = adapters.map(\.name).joined(separator: ", ")
                throw TransportError(.environment, message: "there is no adapter \(name); there is \(names)")
            }
        }
        if let adapter = candidates.first(where: \.isPowered) { return adapter }
        let names = candidates.map(\.name).joined(separator: ", ")
        guard candidates.contains(where: { !$0.isBlocked && !isBlocked($0.name) }) else {
            throw TransportError(
                .environment, message: "the adapter \(names) is blocked by rfkill; run: rfkill unblock bluetooth")
        }
        throw TransportError(
            .environment,
            message: "the adapter \(names) is off; switch it on (bluetoothctl power on), or use --power-on")
    }

    /// The adapter at this path.
    package func adapter(at path: DBusObjectPath) -> BlueZAdapter? {
        guard let properties = properties(of: BlueZInterface.adapter, at: path) else { return nil }
        return BlueZAdapter(
            path: path,
            address: properties["Address"]?.text ?? "",
            isPowered: properties["Powered"] == .boolean(true),
            isBlocked: properties["PowerState"] == .string("off-blocked"),
            isDiscovering: properties["Discovering"] == .boolean(true),
            roles: properties["Roles"]?.texts,
            modalias: properties["Modalias"]?.text)
    }
}
