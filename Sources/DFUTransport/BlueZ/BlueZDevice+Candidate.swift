extension BlueZDevice {
    /// The device as `DeviceSelector` looks at it; nil when it is only remembered: neither heard nor connected.
    package var candidate: DeviceSelector.Candidate? {
        guard signalStrength != nil || isConnected, let address = BluetoothAddress(address) else { return nil }
        return DeviceSelector.Candidate(address: address, name: advertisedName ?? name, services: services)
    }
}
