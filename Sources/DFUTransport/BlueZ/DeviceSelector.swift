internal import DFUProtocol

/// How a person names a device: its address, the end of it, or its name.
package enum DeviceSelector: Sendable, Hashable {
    /// The whole address.
    case address(BluetoothAddress)
    /// The last two to five octets, as they stand on labels.
    case addressEnd([UInt8])
    /// Exactly this name.
    case name(String)

    /// A device that was heard, or is connected.
    package struct Candidate: Sendable, Hashable {
        /// Its address.
        package var address: BluetoothAddress
        /// Its name: the one it advertises now, or else the one known from before.
        package var name: String?
        /// The services it advertises.
        package var services: [BluetoothUUID]

        package init(address: BluetoothAddress, name: String? = nil, services: [BluetoothUUID] = []) {
            self.address = address
            self.name = name
            self.services = services
        }
    }

    /// Which device is meant.
    package enum Match: Sendable, Hashable {
        /// This one.
        case device(BluetoothAddress)
        /// The bootloader of the device with the address that was asked for, which was not heard itself.
        case bootloader(BluetoothAddress)
        /// None of them.
        case none
        /// More than one, in the order of their addresses.
        case several([Candidate])
    }

    /// Why a text names no device.
    package struct Unreadable: Error, Sendable, Hashable {
        /// One sentence without a full stop: what is wrong, and what would be right.
        package var message: String

        package init(message: String) {
            self.message = message
        }
    }

    /// Reads what a person typed. What reads as octets is never a name.
    package init(_ text: String) throws(Unreadable) {
        guard !text.isEmpty else { throw Unreadable(message: "a device's name or address is needed") }
        guard let octets = BluetoothAddress.octets(of: text) else {
            self = .name(text)
            return
        }
        if let address = BluetoothAddress(text) {
            self = .address(address)
        } else if octets.count < 6 {
            self = .addressEnd(octets)
        } else {
            throw Unreadable(
                message: "“\(text)” has \(octets.count) octets; an address has 6, and its end 2 to 5")
        }
    }

    /// Which devices are meant by these selectors, in their order.
    ///
    /// To be asked once the whole scan time is over: before that, a second device that fits may not have been heard yet.
    /// - Parameters:
    ///   - selectors: All that were asked for: a bootloader is never taken from another one of them.
    ///   - candidates: Every device that was heard or is connected, whatever it speaks; one that two adapters heard is
    ///     there twice.
    package static func resolve(_ selectors: [DeviceSelector], among candidates: [Candidate]) -> [Match] {
        let devices = merged(candidates)
        let matches = selectors.map { $0.match(among: devices) }
        var taken: Set<BluetoothAddress> = []
        for selector in selectors {
            if case .address(let address) = selector { taken.insert(address) }
        }
        for case .device(let address) in matches { taken.insert(address) }
        return zip(selectors, matches).map { selector, match in
            guard case .address(let address) = selector, match == .none else { return match }
            let bootloader = address.bootloader
            let isThere = devices.contains {
                $0.address == bootloader && !SecureDFU.Attributes.loaderServices.isDisjoint(with: $0.services)
            }
            return isThere && !taken.contains(bootloader) ? .bootloader(bootloader) : .none
        }
    }

    private func match(among devices: [Candidate]) -> Match {
        let fitting = devices.filter(fits)
        guard let first = fitting.first else { return .none }
        return fitting.count == 1 ? .device(first.address) : .several(fitting)
    }

    private func fits(_ device: Candidate) -> Bool {
        switch self {
        case .address(let address): device.address == address
        case .addressEnd(let octets): device.address.octets.suffix(octets.count) == octets[...]
        case .name(let name): device.name == name
        }
    }

    /// Each device once, in the order of their addresses, with all that was heard of it.
    private static func merged(_ candidates: [Candidate]) -> [Candidate] {
        var devices: [BluetoothAddress: Candidate] = [:]
        for candidate in candidates {
            guard var device = devices[candidate.address] else {
                devices[candidate.address] = candidate
                continue
            }
            device.name = device.name ?? candidate.name
            device.services += candidate.services.filter { !device.services.contains($0) }
            devices[candidate.address] = device
        }
        return devices.values.sorted { $0.address.octets.lexicographicallyPrecedes($1.address.octets) }
    }
}
