/// A service as a device shows it.
public struct GATTService: Sendable, Hashable {
    /// What kind of service it is.
    public var uuid: BluetoothUUID
    /// Its characteristics, in the device's order.
    public var characteristics: [GATTCharacteristic]

    /// A service with these characteristics.
    public init(uuid: BluetoothUUID, characteristics: [GATTCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// A characteristic as a device shows it.
public struct GATTCharacteristic: Sendable, Hashable {
    /// What can be done with a characteristic (Bluetooth Core 5.4, volume 3, part G, 3.3.1.1).
    public struct Properties: OptionSet, Sendable, Hashable {
        /// The bits of the declaration.
        public let rawValue: UInt8

        /// The bits of the declaration.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// It can be read.
        public static let read = Properties(rawValue: 0x02)
        /// It can be written with a command, which the device does not answer.
        public static let writeWithoutResponse = Properties(rawValue: 0x04)
        /// It can be written with a request, which the device answers.
        public static let write = Properties(rawValue: 0x08)
        /// It sends notifications.
        public static let notify = Properties(rawValue: 0x10)
        /// It sends indications.
        public static let indicate = Properties(rawValue: 0x20)
    }

    /// What kind of characteristic it is.
    public var uuid: BluetoothUUID
    /// What can be done with it.
    public var properties: Properties

    /// A characteristic with these properties.
    public init(uuid: BluetoothUUID, properties: Properties) {
        self.uuid = uuid
        self.properties = properties
    }
}
