/// Has the kernel connect the devices in use with the parameters that are wanted, and puts back what was there.
///
/// One adapter's. A load may drop what the kernel has of other devices (`load_conn_param`, net/bluetooth/mgmt.c), so each
/// carries along all devices that are in use by this process, and what BlueZ stored for any other.
struct ConnectionParameterLoader {
    /// The adapter's name and address as BlueZ shows them.
    private let adapter: BlueZAdapter
    private let channel: any ManagementChannel
    private let storage: BlueZStorage
    private let log: (@Sendable (String) -> Void)?

    private var standing = Standing.unknown
    private var inUse: [BluetoothAddress: DeviceConnectionParameters] = [:]
    /// Why nothing was asked for, until it is told.
    private var untold: String?

    private enum Standing {
        case unknown
        /// It has loaded parameters for the adapter with this number.
        case able(adapter: UInt16)
        case unable
    }

    /// From this version on, a load for one device that there are parameters for leaves those of others, and changes them
    /// on its connection (Linux 6.11; `load_conn_param`, net/bluetooth/mgmt.c).
    private static let updatingVersion = ManagementVersion(version: 1, revision: 23)

    init(
        adapter: BlueZAdapter, channel: any ManagementChannel, storage: BlueZStorage,
        log: (@Sendable (String) -> Void)?
    ) {
        self.adapter = adapter
        self.channel = channel
        self.storage = storage
        self.log = log
    }

    // MARK: Before a device is connected

    /// Has a device connected with these parameters. Where that cannot be, it is connected all the same.
    mutating func load(_ parameters: ConnectionParameters, for device: BlueZDevice) {
        guard let address = BluetoothAddress(device.address),
            let type = DeviceConnectionParameters.AddressType(device.addressType)
        else { return }
        let entry = DeviceConnectionParameters(address: address, addressType: type, parameters: parameters)
        do throws(ManagementError) {
            switch standing {
            case .unable: return
            case .able(let index): try load(inUse.values + [entry], on: index)
            case .unknown:
                let version = try readVersion()
                let index = try findIndex()
                try load([entry], on: index)
                standing = .able(adapter: index)
                log?(sideEffect(of: version))
                if let sentence = phySentence(on: index) { log?(sentence) }
            }
            inUse[address] = entry
            log?("\(address): the kernel is asked for \(parameters)")
        } catch {
            if case .unknown = standing {
                standing = .unable
                untold = "the connection interval is left to BlueZ and the kernel: \(reason(error))"
            } else {
                log?("\(address): the kernel cannot be asked for \(parameters): \(reason(error))")
            }
        }
    }

    /// Why parameters were not asked for; once.
    mutating func takeRefusal() -> String? {
        defer { untold = nil }
        return untold
    }

    private func readVersion() throws(ManagementError) -> ManagementVersion {
        guard let version = ManagementVersion(try channel.ask(.readVersion)) else { throw .malformed }
        return version
    }

    /// The adapter's number, where the kernel's adapter with it is the one that BlueZ shows: behind another bus there may
    /// be another machine's, or none.
    private func findIndex() throws(ManagementError) -> UInt16 {
        guard adapter.name.hasPrefix("hci"), let index = UInt16(adapter.name.dropFirst(3)) else {
            throw .invalidIndex
        }
        let answer = try channel.ask(.readControllerInformation(adapter: index))
        guard let information = ControllerInformation(answer) else { throw .malformed }
        guard information.address == BluetoothAddress(adapter.address) else { throw .invalidIndex }
        return index
    }

    // MARK: After a device was connected

    /// Puts back what BlueZ stored for a device, or else the kernel's default. Harmless when nothing was loaded for it.
    mutating func release(_ device: String) {
        guard let address = BluetoothAddress(device), let entry = inUse.removeValue(forKey: address),
            case .able(let index) = standing
        else { return }
        var former = entry
        let stored = storage.connectionParameters()?.first { $0.address == address }
        do throws(ManagementError) {
            if let stored { former = stored } else { former.parameters = try kernelDefault(on: index) }
            try load(inUse.values + [former], on: index)
            let owner = stored == nil ? "the kernel's default" : "what BlueZ stored"
            log?("\(address): put back \(owner): \(former.parameters)")
        } catch {
            log?(
                "\(address): the kernel keeps \(entry.parameters) for it (\(reason(error))), until the adapter is "
                    + "unplugged or the machine restarted")
        }
    }

    private func kernelDefault(on index: UInt16) throws(ManagementError) -> ConnectionParameters {
        do throws(ManagementError) {
            let answer = try channel.ask(.readDefaultSystemConfiguration(adapter: index))
            guard let parameters = ConnectionParameters(systemConfiguration: answer) else { throw .malformed }
            return parameters
        } catch .refused(0x01) {
            // A kernel that does not know the command.
            return .kernelDefault
        }
    }

    // MARK: Either way

    /// Loads these, with what BlueZ stored for others.
    private func load(_ entries: [DeviceConnectionParameters], on index: UInt16) throws(ManagementError) {
        var all = Dictionary(entries.map { ($0.address, $0) }) { $1 }
        for stored in storage.connectionParameters() ?? [] where all[stored.address] == nil {
            guard all.count < DeviceConnectionParameters.mostInCommand else { break }
            all[stored.address] = stored
        }
        let sorted = all.values.sorted { $0.address.octets.lexicographicallyPrecedes($1.address.octets) }
        guard try channel.ask(.loadConnectionParameters(sorted, adapter: index)).isEmpty else { throw .malformed }
    }

    // MARK: What is told

    private func sideEffect(of version: ManagementVersion) -> String {
        let exception =
            version < Self.updatingVersion ? "" : ", unless it is for a single device that has an entry already"
        let consequence =
            switch storage.connectionParameters()?.count {
            case 0?: "BlueZ has stored none for any"
            case let count?: "what BlueZ stored for \(count) is loaded along with it"
            case nil:
                "what BlueZ stored cannot be read by this user, so they are connected with the kernel's default until "
                    + "BlueZ is restarted"
            }
        return "such a load has this kernel (management \(version)) drop its entries of other devices that it does not "
            + "connect by itself\(exception); \(consequence)"
    }

    /// A PHY is a setting of the whole adapter, so it is looked at only.
    private func phySentence(on index: UInt16) -> String? {
        guard let answer = try? channel.ask(.readPHYConfiguration(adapter: index)),
            let configuration = PHYConfiguration(answer)
        else { return nil }
        let state =
            switch (configuration.supports2M, configuration.selects2M) {
            case (false, _): "the adapter has no 2M PHY"
            case (true, false): "the adapter has 2M PHY, and the kernel does not use it"
            case (true, true): "the adapter has 2M PHY, and the kernel uses it where the device has it too"
            }
        return "\(state); that is a setting of the whole adapter, and stays as it is (updates over 2M are untested)"
    }

    private func reason(_ error: ManagementError) -> String {
        switch error {
        case .unavailable(let text): "there is no management socket here (\(text))"
        case .permissionDenied:
            "to ask for one needs CAP_NET_ADMIN; run as root, or once: sudo setcap cap_net_admin+ep "
                + "\"$(command -v dfu)\""
        case .invalidIndex: "this machine's kernel has no adapter \(adapter.name) with the address \(adapter.address)"
        case .refused(let status): "the kernel refused with the management status \(status)"
        case .silent: "the kernel did not answer"
        case .malformed: "the kernel answered in another form than it should"
        }
    }
}

extension DeviceConnectionParameters.AddressType {
    /// Reads BlueZ's word on the bus.
    fileprivate init?(_ text: String) {
        switch text {
        case "public": self = .lePublic
        case "random": self = .leRandom
        default: return nil
        }
    }
}
