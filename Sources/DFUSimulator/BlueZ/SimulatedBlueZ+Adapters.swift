import DFUTransport

extension SimulatedBlueZ {
    /// Brings an adapter to the bus.
    func add(_ adapter: SimulatedAdapter) {
        let path = Self.path.child(adapter.name)
        adapters[path] = Adapter(configuration: adapter)
        let properties: [String: DBusValue] = [
            "Address": .string(adapter.address), "AddressType": .string("public"), "Name": .string(adapter.name),
            "Alias": .string(adapter.name), "Class": .uint32(0), "Powered": .boolean(adapter.isPowered),
            "Discoverable": .boolean(false), "Pairable": .boolean(true), "Discovering": .boolean(false),
            "UUIDs": .array([], of: .string),
            "Roles": .array([.string("central"), .string("peripheral")], of: .string),
        ]
        tell(tree.add(path, .adapter, properties))
    }

    func callAdapter(_ call: DBusMessage, at path: DBusObjectPath) {
        guard let member = call.member, let sender = call.sender, let adapter = adapters[path] else {
            preconditionFailure("a call that is for no adapter")
        }
        if member == "GetDiscoveryFilters" {
            let names = ["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"]
            return answer(call, [.array(names.map(DBusValue.string), of: .string)])
        }
        if member == "RemoveDevice" { return removeDevice(call, on: path) }
        guard adapter.configuration.isPowered else { return refuse(call, BlueZError.notReady) }
        switch member {
        case "StartDiscovery":
            // Every client may start one discovery.
            guard adapter.discoveries[sender] == nil else { return refuse(call, BlueZError.busy) }
            startDiscovery(of: sender, on: path)
        case "StopDiscovery":
            guard adapter.discoveries[sender] != nil else {
                return refuse(call, BlueZError.failed("No discovery started"))
            }
            endDiscovery(of: sender, on: path)
        case "SetDiscoveryFilter":
            guard let properties = call.body.first?.properties, let filter = DiscoveryFilter(properties) else {
                return refuse(call, BlueZError.invalidArguments)
            }
            let wanted = properties.isEmpty ? nil : filter
            if adapter.discoveries[sender] != nil {
                adapters[path]?.discoveries[sender] = .some(wanted)
            } else {
                adapters[path]?.filters[sender] = wanted
            }
        default: preconditionFailure("an adapter has no method \(member)")
        }
        answer(call)
    }

    private func removeDevice(_ call: DBusMessage, on path: DBusObjectPath) {
        guard case .objectPath(let device) = call.body.first, devices[device]?.adapter == path else {
            return refuse(call, BlueZError.doesNotExist)
        }
        guard adapters[path]?.configuration.isPowered == true else { return refuse(call, BlueZError.notReady) }
        guard devices[device]?.link == nil else { return endLink(to: device, for: call) }
        remove(device)
        answer(call)
    }

    // MARK: Power

    func setPowered(_ isPowered: Bool, at path: DBusObjectPath) {
        guard let adapter = adapters[path], adapter.configuration.isPowered != isPowered else { return }
        adapters[path]?.configuration.isPowered = isPowered
        if !isPowered {
            adapters[path]?.filters = [:]
            for (device, state) in devices where state.adapter == path { drop(device) }
            for client in adapter.discoveries.keys { endDiscovery(of: client, on: path) }
        }
        tell(tree.set(["Powered": .boolean(isPowered)], of: .adapter, at: path))
    }

    // MARK: Discovery

    private func startDiscovery(of client: String, on path: DBusObjectPath) {
        let filter = adapters[path]?.filters.removeValue(forKey: client)
        adapters[path]?.discoveries[client] = .some(filter)
        guard adapters[path]?.nextReport == nil else { return }
        tell(tree.set(["Discovering": .boolean(true)], of: .adapter, at: path))
        scheduleReport(on: path)
    }

    func endDiscovery(of client: String, on path: DBusObjectPath) {
        adapters[path]?.filters[client] = nil
        guard adapters[path]?.discoveries.removeValue(forKey: client) != nil,
            adapters[path]?.discoveries.isEmpty == true
        else { return }
        cancel(adapters[path]?.nextReport)
        adapters[path]?.nextReport = nil
        for (device, state) in devices where state.adapter == path {
            tell(tree.set(["RSSI": nil], of: .device, at: device))
        }
        tell(tree.set(["Discovering": .boolean(false)], of: .adapter, at: path))
    }

    private func scheduleReport(on path: DBusObjectPath) {
        adapters[path]?.nextReport = after(settings.radio.advertisingInterval) { blueZ in
            for neighbour in blueZ.neighbours where neighbour.station.isAdvertising {
                blueZ.hear(neighbour, on: path)
            }
            blueZ.scheduleReport(on: path)
        }
    }

    /// Takes a report of a device that advertises.
    private func hear(_ neighbour: Neighbour, on path: DBusObjectPath) {
        let advertised = neighbour.advertised
        guard let adapter = adapters[path],
            adapter.discoveries.values.contains(where: { $0?.admits(advertised) ?? true })
        else { return }
        let device = path.child("dev_" + String(advertised.device.address.map { $0 == ":" ? "_" : $0 }))
        let rssi = DBusValue.int16(advertised.rssi)
        if devices[device] == nil {
            devices[device] = Device(adapter: path, neighbour: neighbour)
            tell(tree.add(device, .device, properties(of: advertised, on: path)))
        } else if adapter.isFiltered {
            _ = tree.set(["RSSI": rssi], of: .device, at: device)
            tell(BlueZObjectTree.change(["RSSI": rssi], of: .device, at: device))
        } else {
            tell(tree.set(["RSSI": rssi], of: .device, at: device))
        }
        if devices[device]?.isTemporary == true { keepForAWhile(device) }
    }

    private func properties(of advertised: AdvertisedDevice, on adapter: DBusObjectPath) -> [String: DBusValue] {
        let address = advertised.device.address
        let alias = advertised.name ?? String(address.map { $0 == ":" ? "-" : $0 })
        var properties: [String: DBusValue] = [
            "Address": .string(address), "AddressType": .string(advertised.addressType), "Alias": .string(alias),
            "Paired": .boolean(false), "Bonded": .boolean(false), "Trusted": .boolean(false),
            "Blocked": .boolean(false), "LegacyPairing": .boolean(false), "RSSI": .int16(advertised.rssi),
            "Connected": .boolean(false),
            "UUIDs": .array(advertised.services.map { .string($0.description) }, of: .string),
            "Adapter": .objectPath(adapter), "ServicesResolved": .boolean(false),
        ]
        properties["Name"] = advertised.name.map(DBusValue.string)
        return properties
    }

    /// Forgets a device that is not heard again for some time.
    func keepForAWhile(_ device: DBusObjectPath) {
        cancel(devices[device]?.disappearance)
        devices[device]?.disappearance = after(settings.temporaryTimeout) { $0.remove(device) }
    }

    /// Takes a device off the bus.
    func remove(_ device: DBusObjectPath) {
        drop(device)
        cancel(devices.removeValue(forKey: device)?.disappearance)
        for path in characteristics.keys where path.isAtOrBelow(device) { release(path) }
        tree.remove(device).forEach(tell)
    }
}
