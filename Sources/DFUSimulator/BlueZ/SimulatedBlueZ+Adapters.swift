import DFUTransport

extension SimulatedBlueZ {
    /// Brings an adapter to the bus.
    func add(_ adapter: SimulatedAdapter) {
        let path = Self.path.child(adapter.name)
        adapters[path] = Adapter(configuration: adapter)
        var properties: [String: DBusValue] = [
            "Address": .string(adapter.address), "AddressType": .string("public"), "Name": .string(adapter.name),
            "Alias": .string(adapter.name), "Class": .uint32(0), "Powered": .boolean(adapter.isPowered),
            "Discoverable": .boolean(false), "Pairable": .boolean(true), "Discovering": .boolean(false),
            "UUIDs": .array([], of: .string), "Modalias": .string(settings.modalias),
            "Roles": .array(adapter.roles.map(DBusValue.string), of: .string),
        ]
        if settings.hasPowerState { properties["PowerState"] = .string(adapter.powerState) }
        tell(tree.add(path, .adapter, properties))
        for neighbour in neighbours where storage[path.device(neighbour.address)] != nil {
            addDevice(neighbour, on: path, isHeard: false)
        }
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
        guard var adapter = adapters[path], adapter.configuration.isPowered != isPowered else { return }
        adapter.configuration.isPowered = isPowered
        adapters[path]?.configuration = adapter.configuration
        if !isPowered {
            adapters[path]?.filters = [:]
            for (device, state) in devices where state.adapter == path { drop(device) }
            for client in adapter.discoveries.keys { endDiscovery(of: client, on: path) }
        }
        var changes: [String: DBusValue?] = ["Powered": .boolean(isPowered)]
        if settings.hasPowerState { changes["PowerState"] = .string(adapter.configuration.powerState) }
        tell(tree.set(changes, of: .adapter, at: path))
    }

    // MARK: Discovery

    func startDiscovery(of client: String, on path: DBusObjectPath) {
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
            for index in blueZ.neighbours.indices where blueZ.neighbours[index].advertised.isInRange {
                for advertisement in blueZ.neighbours[index].station.advertisements {
                    blueZ.hear(advertisement, of: index, on: path)
                }
            }
            blueZ.scheduleReport(on: path)
        }
    }

    /// Takes a report of a device that advertises.
    private func hear(_ advertisement: DeviceAdvertisement, of index: Int, on path: DBusObjectPath) {
        neighbours[index].reports += 1
        let neighbour = neighbours[index].heard(by: advertisement)
        guard let adapter = adapters[path],
            adapter.discoveries.values.contains(where: { $0?.admits(neighbour) ?? true })
        else { return }
        let device = path.device(neighbour.address)
        if devices[device] == nil {
            addDevice(neighbour, on: path, isHeard: true)
        } else {
            let rssi = DBusValue.int16(neighbour.advertised.rssi)
            let change = tree.set(["RSSI": rssi], of: .device, at: device)
            tell(adapter.isFiltered ? BlueZObjectTree.change(["RSSI": rssi], of: .device, at: device) : change)
            if neighbour.heardName != nil {
                tell(tree.set(names(of: neighbour, isHeard: true), of: .device, at: device))
            }
        }
        if devices[device]?.isTemporary == true { keepForAWhile(device) }
    }

    /// Brings a device to the bus: one that is heard the first time, or one that is known from earlier.
    func addDevice(_ neighbour: Neighbour, on adapter: DBusObjectPath, isHeard: Bool) {
        let path = adapter.device(neighbour.address)
        let isPaired = storage[path]?.isPaired ?? false
        let advertised = neighbour.advertised
        var properties: [String: DBusValue] = [
            "Address": .string(neighbour.address), "AddressType": .string(advertised.addressType),
            "Paired": .boolean(isPaired), "Bonded": .boolean(isPaired), "Trusted": .boolean(false),
            "Blocked": .boolean(false), "LegacyPairing": .boolean(false), "Connected": .boolean(false),
            "UUIDs": .array(advertised.services.map { .string($0.description) }, of: .string),
            "Adapter": .objectPath(adapter), "ServicesResolved": .boolean(false),
        ]
        if isHeard { properties["RSSI"] = .int16(advertised.rssi) }
        properties.merge(names(of: neighbour, isHeard: isHeard)) { $1 }
        devices[path] = Device(adapter: adapter, station: neighbour.station, isTemporary: storage[path] == nil)
        tell(tree.add(path, .device, properties))
    }

    /// The properties that have to do with a device's name.
    private func names(of neighbour: Neighbour, isHeard: Bool) -> [String: DBusValue] {
        guard let kept = neighbour.advertised.keptName else {
            // What is known from earlier has its name from then.
            let name = isHeard ? neighbour.heardName : neighbour.advertised.name
            let alias = name ?? String(neighbour.address.map { $0 == ":" ? "-" : $0 })
            var properties = ["Alias": DBusValue.string(alias)]
            properties["Name"] = name.map(DBusValue.string)
            return properties
        }
        var properties: [String: DBusValue] = ["Name": .string(kept), "Alias": .string(kept)]
        if isHeard, let name = neighbour.heardName {
            // Complete Local Name (Bluetooth Assigned Numbers, 2.3).
            properties["AdvertisingData"] = .dictionary(
                [.byte(0x09): .variant(.bytes(Array(name.utf8)))], key: .byte, value: .variant)
        }
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
        storage[device] = nil
        // Its file is not written anew where nothing is left in it (`device_remove_stored` in src/device.c).
        cachedServices[device] = advertised(device)?.name == nil ? devices[device]?.layout.services : nil
        cancel(devices.removeValue(forKey: device)?.disappearance)
        for path in characteristics.keys where path.isAtOrBelow(device) { release(path) }
        tree.remove(device).forEach(tell)
    }
}
